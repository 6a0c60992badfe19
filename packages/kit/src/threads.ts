export { ProcessGroup } from "./threads/processGroup.ts";
export { moduleAsData, workerOptions } from "./threads/workerThread.ts";
