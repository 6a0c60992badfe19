// What a release has to do next, for the workflow: `version` while there are changesets, `publish` where the registry lacks a version of
// this checkout, else `none`.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { onRegistry, releasedSet, root } from "./packages.mjs";

const changesets = readdirSync(join(root, ".changeset")).filter((file) => file.endsWith(".md") && file !== "README.md");
const lacks = async ({ name, version }) => !(version in (await onRegistry(name)).versions);
const missing = changesets.length > 0 ? [] : await Promise.all(releasedSet().map(lacks));
console.log(changesets.length > 0 ? "version" : missing.includes(true) ? "publish" : "none");
