export { agentWorkflow, type RestateRun } from "./restate/workflow.ts";
