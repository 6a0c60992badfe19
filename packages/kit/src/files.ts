export { type AtomicWriteOptions, temporaryName, type WriteResult, writeAtomically } from "./files/atomicWrite.ts";
export { changeMode, changeOwner, changeTimes, flush, type OpenFile } from "./files/changeAttributes.ts";
export { type FilePath, mountPoints, type OpenDirectory, openDirectory } from "./files/descriptors.ts";
export {
  ensureDirectory,
  inParent,
  type MadeDirectories,
  makeDirectories,
  namesIn,
  openInside,
  removeFlatFolder,
  removeIfPossible,
  syncDirectory,
} from "./files/directories.ts";
export { type FileLock, takeFileLock, withFileLock } from "./files/fileLock.ts";
export { fitEncodedPicture, fitPicture, largestPicture } from "./files/fitPicture.ts";
export { GitConfigs, type GitNamedPath, readSmallFile } from "./files/gitConfig.ts";
export {
  alikeNotice,
  type FolderEntry,
  type Listings,
  type MeantPath,
  type MeantPathOptions,
  missingPathHint,
  nameAlike,
  namesAlike,
  plainPathError,
  resolveExisting,
} from "./files/missingPath.ts";
export {
  fileKind,
  type GivenFileOptions,
  openRegularFile,
  type RegularFile,
  readGivenFile,
  refuseMore,
  refuseSpecial,
} from "./files/openRegular.ts";
export { isBelowAny, type OwnFile, type OwnFileOptions, ownFile } from "./files/ownFile.ts";
export { withPathLocks } from "./files/pathLock.ts";
export { type ProtectedPath, protectedPaths } from "./files/protectedPaths.ts";
export { renameRetrying } from "./files/renameRetrying.ts";
export { createSemaphore, type Semaphore } from "./files/semaphore.ts";
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
