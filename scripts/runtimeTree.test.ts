import { join } from "node:path";
import { temporaryFolder, writeIn } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { runsAtInstall, runtimeTree } from "./runtimeTree.mjs";

test("a dependency of a dependency that runs a script or is built at install is noticed", () => {
  const folder = temporaryFolder("tree");
  const put = (path: string, manifest: object): void =>
    writeIn(folder, `${path}/package.json`, JSON.stringify({ version: "1.0.0", ...manifest }));
  put("user", { name: "user", dependencies: { a: "1", c: "1" }, optionalDependencies: { elsewhere: "1" } });
  put("user/node_modules/a", { name: "a", dependencies: { b: "1" }, devDependencies: { d: "1" } });
  put("user/node_modules/a/node_modules/b", { name: "b", scripts: { postinstall: "true", test: "true" } });
  put("user/node_modules/c", { name: "c", scripts: { prepare: "true" } });
  writeIn(folder, "user/node_modules/c/binding.gyp", "{}");
  const tree = runtimeTree(join(folder, "user"));
  expect([...tree.keys()].sort()).toEqual(["a@1.0.0", "b@1.0.0", "c@1.0.0", "user@1.0.0"]);
  expect([...tree].filter(([, each]) => runsAtInstall(each)).map(([key]) => key)).toEqual(["b@1.0.0", "c@1.0.0"]);
});
