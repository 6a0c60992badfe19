export { PageAgent } from "./agUi/pageAgent.ts";
