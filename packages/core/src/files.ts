export { createPathScope, isInside, type PathScope, type PathScopeOptions } from "./pathScope.ts";
export { plainSystemError, systemErrorCode } from "./systemErrors.ts";
