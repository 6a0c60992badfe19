export { type AtomicWriteOptions, type WriteResult, writeAtomically } from "./files/atomicWrite.ts";
export { canonicalOrUndefined } from "./files/canonicalPath.ts";
export { changeMode, changeOwner, changeTimes, flush, type OpenFile } from "./files/changeAttributes.ts";
export { compileDenyRules, type DeniedPaths, type DenyRules } from "./files/deniedPaths.ts";
export { type FilePath, type OpenDirectory, openDirectory } from "./files/descriptors.ts";
export {
  ensureDirectory,
  type MadeDirectories,
  makeDirectories,
  openInside,
  syncDirectory,
} from "./files/directories.ts";
export { type FileLock, takeFileLock, withFileLock } from "./files/fileLock.ts";
export { namesIn, removeFlatFolder, removeIfPossible } from "./files/flatFolder.ts";
export { type GivenFileOptions, readGivenFile, refuseMore } from "./files/givenFile.ts";
export { homeFolder } from "./files/homeFolder.ts";
export { fileKind, openRegularFile, type RegularFile, refuseSpecial } from "./files/openRegular.ts";
export { isBelowAny, type OwnFile, type OwnFileOptions, ownFile } from "./files/ownFile.ts";
export { mayHoldEntries, pathEffect } from "./files/pathEffect.ts";
export { isInside, type PathUse } from "./files/pathLimits.ts";
export { withPathLocks } from "./files/pathLock.ts";
export { compilePathPatterns, type PathPatternOptions, type PathPatterns } from "./files/pathPatterns.ts";
export { createPathScope, type PathScope } from "./files/pathScope.ts";
export type { PathScopeOptions } from "./files/scopeOptions.ts";
export { createSemaphore, type Semaphore } from "./files/semaphore.ts";
export { type SpillOptions, spillOutput } from "./files/spillOutput.ts";
export { plainSystemError, systemErrorCode } from "./files/systemErrors.ts";
export { temporaryName } from "./files/temporaryFile.ts";
export { compileWildmatch, type Wildmatch } from "./files/wildmatch.ts";
export { moduleAsData, processorMs, systemThreadId, workerOptions } from "./workerThread.ts";
