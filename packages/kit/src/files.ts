export { type AtomicWriteOptions, temporaryName, type WriteResult, writeAtomically } from "./files/atomicWrite.ts";
export { changeAttributes, type FilePath, flush, type OpenFile } from "./files/changeAttributes.ts";
export { mountPoints, OpenDirectory } from "./files/descriptors.ts";
export {
  ensureDirectory,
  inParent,
  type MadeDirectories,
  makeDirectories,
  namesIn,
  openInside,
  removeFlatFolder,
  removeIfPossible,
} from "./files/directories.ts";
export { FileLock, withFileLock } from "./files/fileLock.ts";
export { fitEncodedPicture, fitPicture } from "./files/fitPicture.ts";
export { GitConfigs, type GitNamedPath, readSmallFile } from "./files/gitConfig.ts";
export { LookAlikes, type MeantPath, missingPathHint, plainPathError } from "./files/missingPath.ts";
export {
  fileKind,
  type GivenFileOptions,
  openRegularFile,
  type RegularFile,
  readGivenFile,
  refuseMore,
  refuseSpecial,
} from "./files/openRegular.ts";
export { isBelowAny, OwnFile } from "./files/ownFile.ts";
export { withPathLocks } from "./files/pathLock.ts";
export { type ProtectedPath, protectedPaths } from "./files/protectedPaths.ts";
export { renameRetrying } from "./files/renameRetrying.ts";
export { createSemaphore } from "./files/semaphore.ts";
export { type SpillOptions, spillOutput, spillText } from "./files/spillOutput.ts";
export { isForbiddenByNode, plainSystemError, systemErrorCode } from "./files/systemErrors.ts";
export { type Trust, type TrustAnswer, type TrustStore, trustStore } from "./files/trustStore.ts";
export { choicesOf } from "./paths/braces.ts";
export { canonicalOrUndefined } from "./paths/canonicalPath.ts";
export {
  compileDenyRules,
  type DeniedPaths,
  type DenyRules,
  readPatternList,
  refuseChoices,
} from "./paths/deniedPaths.ts";
export { findProgram, isTrustedProgram } from "./paths/findProgram.ts";
export {
  compileName,
  compileNames,
  compileWildmatch,
  type Glob,
  type NameTest,
  posixClasses,
} from "./paths/globs.ts";
export { homeFolder } from "./paths/homeFolder.ts";
export {
  isInside,
  type PathScopeOptions,
  type PathUse,
  scopeOptions,
} from "./paths/pathLimits.ts";
export { compilePathPatterns, type PathPatternOptions, type PathPatterns } from "./paths/pathPatterns.ts";
export { createPathScope, mayHoldEntries, type PathScope, pathEffect } from "./paths/pathScope.ts";
export { isOnOtherShare, type PathStyle } from "./paths/pathStyle.ts";
