export { type ProcessGroup, watchGroup } from "./threads/processGroup.ts";
export { moduleAsData, processorMs, systemThreadId, workerOptions } from "./threads/workerThread.ts";
