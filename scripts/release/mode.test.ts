import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "@toolcrib/testing";
import { expect, onTestFinished, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A checkout of one package, and a registry that has these versions of it. */
async function modeWith(published: readonly string[], changesets: readonly string[]): Promise<string> {
  const checkout = temporaryFolder("mode");
  cpSync(join(root, "scripts/release"), join(checkout, "scripts/release"), { recursive: true });
  for (const folder of ["packages/core", ".changeset"]) mkdirSync(join(checkout, folder), { recursive: true });
  writeFileSync(join(checkout, "packages/core/package.json"), '{ "name": "@toolcrib/core", "version": "0.2.0" }');
  for (const file of changesets) writeFileSync(join(checkout, ".changeset", file), "");
  const versions = Object.fromEntries(published.map((version) => [version, { dist: { integrity: "" } }]));
  const registry = createServer((request, response) => {
    response.statusCode = request.url === "/@toolcrib%2fcore" && published.length > 0 ? 200 : 404;
    response.end(JSON.stringify({ "dist-tags": { latest: published[0] }, versions }));
  });
  await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void registry.close());
  const child = spawn(process.execPath, [join(checkout, "scripts/release/mode.mjs")], {
    env: {
      ...process.env,
      npm_config_registry: `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`,
      "npm_config_@toolcrib:registry": "",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  for await (const piece of child.stdout) printed += piece;
  return printed.trim();
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
