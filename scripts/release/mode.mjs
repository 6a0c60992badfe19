// What a release has to do next, for the workflow: `version` while there are changesets, `publish` where the registry lacks a version of
// this checkout, else `none`.
import { onRegistry, pendingChangesets, releasedSet } from "./packages.mjs";

const isVersioned = pendingChangesets().length === 0;
const lacks = async ({ name, version }) => !(version in (await onRegistry(name)).versions);
const missing = isVersioned ? await Promise.all(releasedSet().map(lacks)) : [];
console.log(!isVersioned ? "version" : missing.includes(true) ? "publish" : "none");
