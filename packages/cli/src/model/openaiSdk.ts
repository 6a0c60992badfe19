export { default } from "openai";
