import { createPathScope } from "@toolcrib/kit/files";
import { sharedFolder } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { treeOf } from "./searchArguments.ts";

const [cwd, lent, other] = [sharedFolder("tree-root"), sharedFolder("tree-lent"), sharedFolder("tree-other")];
const start = (path: string, isDirectory: boolean) => ({ path, shown: "", isDirectory });

test.each([
  ["a root", `${cwd}/a/b.txt`, false, cwd],
  ["a folder that is only readable", `${lent}/a/b.txt`, false, lent],
  ["itself, where it is a folder elsewhere", `${other}/a`, true, `${other}/a`],
  ["its folder, where it is a file elsewhere", `${other}/a/b.txt`, false, `${other}/a`],
])("what is remembered of a start belongs to %s", (_, path, isDirectory, tree) => {
  const scope = createPathScope({ root: cwd, cwd, readable: [lent] });
  expect(treeOf(scope, [start(path, isDirectory)])).toBe(tree);
});
