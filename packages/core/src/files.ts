export { type AtomicWriteOptions, type WriteResult, writeAtomically } from "./atomicWrite.ts";
export { descriptorPath, type OpenDirectory, openDirectory } from "./descriptors.ts";
export { type MadeDirectories, makeDirectories, openInside, syncDirectory } from "./directories.ts";
export { fileKind, openRegularFile, type RegularFile, refuseSpecial } from "./openRegular.ts";
export { withPathLocks } from "./pathLock.ts";
export { createPathScope, isInside, type PathScope, type PathScopeOptions } from "./pathScope.ts";
export { createSemaphore, type Semaphore } from "./semaphore.ts";
export { plainSystemError, systemErrorCode } from "./systemErrors.ts";
export { createTemporary, type TemporaryFile, temporaryName } from "./temporaryFile.ts";
