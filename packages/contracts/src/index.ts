export { compareManifests } from "./compareManifests.ts";
export { comparePackages, describeComparison } from "./comparePackages.ts";
export { findProject, packagesIn } from "./installed.ts";
export { charactersPerToken, createManifest, estimateTokens, readManifest, type ToolManifest } from "./toolContract.ts";
