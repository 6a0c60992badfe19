import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { FakeRelease } from "./fakeRelease.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The mode of a checkout at 0.2.0, where the registry has these versions. */
async function modeWith(published: readonly string[], changesets: readonly string[]): Promise<string> {
  const release = await new FakeRelease().start({ core: "0.2.0", fs: "0.2.0" }, "a");
  for (const file of changesets) writeFileSync(join(release.folder, ".changeset", file), "");
  const commits = Object.fromEntries(published.map((version) => [version, "a"]));
  if (published.length > 0) release.has("@toolcrib/core", { latest: published[0] ?? "" }, commits);
  release.has("@toolcrib/fs", { latest: "0.2.0" }, { "0.2.0": "a" });
  return (await release.run("mode")).said.trim();
}

test("changesets are made into versions before anything is published", async () => {
  expect(await modeWith([], ["README.md", "core.md"])).toBe("version");
});

test("a version that the registry lacks is published, one that it has is not", async () => {
  expect(await modeWith([], ["README.md"])).toBe("publish");
  expect(await modeWith(["0.1.0"], [])).toBe("publish");
  expect(await modeWith(["0.2.0", "0.1.0"], [])).toBe("none");
});

test("the workflow decides by it", () => {
  const workflow = readFileSync(join(root, ".github/workflows/release.yml"), "utf8");
  for (const mode of ["version", "publish"]) expect(workflow).toContain(`needs.mode.outputs.mode == '${mode}'`);
});

test("a mode that could not be found out fails the step of the workflow", () => {
  const workflow = readFileSync(join(root, ".github/workflows/release.yml"), "utf8");
  const [, block = ""] = /- id: mode\n(?: {8}#.*\n)? {8}run: (?:\|\n)?((?:.+\n)+)/.exec(workflow) ?? [];
  const folder = temporaryFolder("workflow");
  writeFileSync(join(folder, "output"), "");
  // There is no scripts/release/mode.mjs in this folder. GitHub runs a step by `bash -e`.
  const env = { ...process.env, GITHUB_OUTPUT: join(folder, "output") };
  const { status } = spawnSync("bash", ["-e", "-c", block], { cwd: folder, env });
  expect(status).toBe(1);
  expect(readFileSync(join(folder, "output"), "utf8")).toBe("");
});
