import { expect, test } from "vitest";
import { missingInputs } from "./checkTestInputs.mjs";

test("a file that tests loaded and that is no input of theirs is named", () => {
  const plan = [
    "@toolcrib/kit:packages/kit/**/*",
    "@toolcrib/core:packages/core/**/*,!packages/core/**/*.test.ts,!packages/core/README.md",
    "@toolcrib/core:ProjectConfiguration",
    "{workspaceRoot}/tsconfig*.json",
    "workspace:[{workspaceRoot}/.gitignore,{workspaceRoot}/scripts/{compileCache,seed}.ts,{workspaceRoot}/tsup.base.ts]",
    "npm:vitest",
  ];
  const inputs = ["packages/kit/src/a.test.ts", "packages/core/src/deep/b.ts", "tsconfig.base.json"];
  const grouped = [".gitignore", "scripts/seed.ts", "tsup.base.ts"];
  const others = ["packages/core/README.md", "packages/core/src/b.test.ts", "packages/mcp/src/c.ts", "nx.json"];
  expect(missingInputs([...inputs, ...grouped, ...others], plan)).toEqual(others);
});
