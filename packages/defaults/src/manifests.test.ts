import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compareManifests, createManifest, readManifest, type ToolManifest } from "@toolcrib/contracts";
import type { ExecutableTool } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { createDefaultToolRegistry } from "./factory.ts";

const packages = fileURLToPath(new URL("../../", import.meta.url));
const withTools = ["core", "tools-fs", "tools-search", "tools-bash", "agent"];

/** The manifest that a package publishes, found as its users find it. */
function published(name: string): ToolManifest {
  const { exports } = JSON.parse(readFileSync(join(packages, name, "package.json"), "utf8"));
  return readManifest(JSON.parse(readFileSync(join(packages, name, exports["./manifest.json"]), "utf8")));
}

test("what the packages publish of their tools is what the default registry has", () => {
  const tools = withTools.flatMap((name) => published(name).tools);
  const registry = createDefaultToolRegistry();
  const own = registry.getToolNames().map((name) => registry.get(name) as ExecutableTool);
  const { tools: listed } = createManifest("defaults", own);
  expect(listed).toHaveLength(10);
  for (const contract of listed) expect(tools).toContainEqual(contract);
  const names = new Set(listed.map(({ name }) => name));
  expect(compareManifests({ tools: listed }, { tools: tools.filter(({ name }) => names.has(name)) })).toEqual([]);
});

test("each default that a description names is declared, so that another one is seen as breaking", () => {
  for (const { name, parameters, defaults = {} } of withTools.flatMap((one) => published(one).tools)) {
    const words = JSON.stringify(parameters).matchAll(/default (?:\w+)/gi);
    expect(Object.keys(defaults).length, name).toBeGreaterThanOrEqual([...words].length);
  }
});

test("a manifest is the same, byte for byte, wherever the package is built", () => {
  const folder = temporaryFolder("manifest");
  const env = { PATH: process.env.PATH, HOME: folder, LANG: "tr_TR.UTF-8", TZ: "Asia/Tokyo", SHELL: "/bin/none" };
  execFileSync(process.execPath, [join(packages, "../scripts/writeManifests.mjs"), folder], { cwd: folder, env });
  for (const name of withTools) {
    const built = readFileSync(join(packages, name, "dist/manifest.json"), "utf8");
    expect(readFileSync(join(folder, `${name}.json`), "utf8"), name).toBe(built);
  }
});
