export { type ProtectedPath, protectedPaths } from "@toolcrib/kit/files";
export { exactPattern } from "./judge/protectedPaths.ts";
export type { PolicyOptions } from "./options.ts";
export { createPolicy, type Explanation, type Policy } from "./policy.ts";
export type { PolicyQuestion } from "./question.ts";
export { fileStore, memoryStore, type RememberedStore } from "./remembered/store.ts";
export { type Mode, modes, type Verdict } from "./verdict.ts";
