import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileCache } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { homeFor } from "../../fixtures/command.ts";

const home = homeFor("init");
const modules = (path: string): string => fileURLToPath(new URL(`../../../../node_modules/${path}`, import.meta.url));

/** Links what `npm install` would bring, from the workspace. */
function install(project: string): void {
  const own = fileURLToPath(new URL("../../node_modules/@toolcrib", import.meta.url));
  mkdirSync(join(project, "node_modules", "@types"), { recursive: true });
  symlinkSync(own, join(project, "node_modules", "@toolcrib"));
  for (const name of ["@types/node", "typescript"]) symlinkSync(modules(name), join(project, "node_modules", name));
}

test("toolcrib init makes a project whose test, types and agent run", async () => {
  await home.toolcrib(["init", "My Agent"]);
  const project = home.at("My Agent");
  install(project);
  const run = (...args: string[]): string =>
    execFileSync(process.execPath, args, {
      cwd: project,
      encoding: "utf8",
      // Not this environment: node:test would report to the runner above, and a key would choose a model.
      env: { PATH: process.env.PATH, ...compileCache, OLLAMA_HOST: "127.0.0.1:9" },
      stdio: ["ignore", "pipe", "pipe"],
    });
  expect(run("--test")).toMatch(/\n# fail 0\n|ℹ fail 0\n/);
  run("node_modules/typescript/bin/tsc");
  expect(run("src/main.ts", "list src")).toMatch(/agent\.ts[\s\S]*tools\//);
});
