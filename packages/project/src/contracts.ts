export { type FindPackage, fromRegistry, fromTarballs } from "./contracts/available.ts";
export { comparePackages, type PackageComparison } from "./contracts/comparePackages.ts";
export { findProject, type PackageVersion, type Project, rangeTakes } from "./contracts/installed.ts";
