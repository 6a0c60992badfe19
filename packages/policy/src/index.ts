export type { Explanation } from "./explain.ts";
export { type ProtectedPath, protectedPaths } from "./judge/protectedPaths.ts";
export type { PolicyOptions, PolicyPlace } from "./options.ts";
export { createPolicy, type ExplainedCall, type Policy } from "./policy.ts";
export type { PolicyQuestion } from "./question.ts";
export { type FileStoreOptions, fileStore, type RememberedFile } from "./remembered/fileStore.ts";
export type { Rememberable } from "./remembered/rememberable.ts";
export { memoryStore, type RememberedAnswer, type RememberedStore } from "./remembered/store.ts";
export { type Cause, type Decision, type Mode, modes, type Verdict } from "./verdict.ts";
