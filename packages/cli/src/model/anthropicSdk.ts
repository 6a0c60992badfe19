export { default } from "@anthropic-ai/sdk";
