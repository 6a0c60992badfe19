export { type AgUiOptions, createAgUiHandler } from "./agUi/agUi.ts";
