// `node docs/generate.mjs`, after a build: writes what is generated into the pages that hold it, and names those that it changed.
import { readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { renew } from "./src/site/generated.mjs";
import { listPages, root } from "./src/site/sources.mjs";

for (const { path } of listPages()) {
  const text = readFileSync(path, "utf8");
  const renewed = await renew(text);
  if (renewed === text) continue;
  writeFileSync(path, renewed);
  console.log(relative(root, path));
}
