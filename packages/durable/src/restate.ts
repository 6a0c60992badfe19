export {
  type AgentHandlers,
  agentWorkflow,
  type RestateAnswer,
  type RestateInput,
  type RestateRun,
} from "./restate/workflow.ts";
