export { type FindPackage, fromRegistry, fromTarballs } from "./available.ts";
export { compareManifests } from "./compareManifests.ts";
export { comparePackages } from "./comparePackages.ts";
export { describeComparison } from "./describeComparison.ts";
export { findProject, rangeTakes } from "./installed.ts";
export { charactersPerToken, createManifest, estimateTokens, readManifest, type ToolManifest } from "./toolContract.ts";
