export { type AtomicWriteOptions, type WriteResult, writeAtomically } from "./files/atomicWrite.ts";
export { changeMode, changeOwner, changeTimes, flush, type OpenFile } from "./files/changeAttributes.ts";
export { type FilePath, type OpenDirectory, openDirectory } from "./files/descriptors.ts";
export {
  ensureDirectory,
  inParent,
  type MadeDirectories,
  makeDirectories,
  openInside,
  syncDirectory,
} from "./files/directories.ts";
export { type FileLock, takeFileLock, withFileLock } from "./files/fileLock.ts";
export { fitEncodedPicture, fitPicture, largestPicture } from "./files/fitPicture.ts";
export { namesIn, removeFlatFolder, removeIfPossible } from "./files/flatFolder.ts";
export { GitConfigs, type GitNamedPath, readSmallFile } from "./files/gitConfig.ts";
export { type GivenFileOptions, readGivenFile, refuseMore } from "./files/givenFile.ts";
export {
  alikeNotice,
  type Listings,
  type MeantPath,
  type MeantPathOptions,
  nameAlike,
  namesAlike,
  resolveExisting,
} from "./files/lookAlike.ts";
export { type FolderEntry, missingPathHint, plainPathError } from "./files/missingPath.ts";
export { isMountPoint, mountPoints } from "./files/mounts.ts";
export { fileKind, openRegularFile, type RegularFile, refuseSpecial } from "./files/openRegular.ts";
export { isBelowAny, type OwnFile, type OwnFileOptions, ownFile } from "./files/ownFile.ts";
export { withPathLocks } from "./files/pathLock.ts";
export { type ProtectedPath, protectedPaths } from "./files/protectedPaths.ts";
export { renameRetrying } from "./files/renameRetrying.ts";
export { createSemaphore, type Semaphore } from "./files/semaphore.ts";
export { type SpillOptions, spillOutput, spillText } from "./files/spillOutput.ts";
export { isForbiddenByNode, plainSystemError, systemErrorCode } from "./files/systemErrors.ts";
export { temporaryName } from "./files/temporaryFile.ts";
export { canonicalOrUndefined } from "./paths/canonicalPath.ts";
export { compileDenyRules, type DeniedPaths, type DenyRules } from "./paths/deniedPaths.ts";
export { findProgram, isTrustedProgram } from "./paths/findProgram.ts";
export {
  choicesOf,
  compileName,
  compileNames,
  compileWildmatch,
  type Glob,
  type NameTest,
} from "./paths/globs.ts";
export { homeFolder } from "./paths/homeFolder.ts";
export { mayHoldEntries, pathEffect } from "./paths/pathEffect.ts";
export { isInside, type PathUse } from "./paths/pathLimits.ts";
export { compilePathPatterns, type PathPatternOptions, type PathPatterns } from "./paths/pathPatterns.ts";
export { createPathScope, type PathScope } from "./paths/pathScope.ts";
export { isOnOtherShare, type PathStyle } from "./paths/pathStyle.ts";
export { readPatternList, refuseChoices } from "./paths/patternList.ts";
export { directoryOption, type PathScopeOptions, patternsOption, scopeOptions } from "./paths/scopeOptions.ts";
