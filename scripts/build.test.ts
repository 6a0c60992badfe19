import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";

test("a checkout that was built is not built again beside tests that load what is built", () => {
  const root = resolve(import.meta.dirname, "..");
  const { status, stdout, stderr } = spawnSync(process.execPath, [resolve(root, "scripts/build.mjs")], {
    env: { ...process.env, TOOLCRIB_BUILT: root },
    encoding: "utf8",
  });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "", stderr: "" });
});
