// The programs of others that @toolcrib/mcp is tried against, pinned, and installed on demand into a folder that git ignores.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root: string = dirname(dirname(fileURLToPath(import.meta.url)));

const folder = join(root, "testing/.tools/mcp");
const dependencies = {
  "@modelcontextprotocol/conformance": "0.2.0-alpha.12",
  "@modelcontextprotocol/inspector": "2.12.0",
  "@modelcontextprotocol/server-everything": "2026.8.31",
  "@modelcontextprotocol/server-filesystem": "2026.8.31",
};

/** Installs them unless they are there, without running install scripts; answers the path of their node_modules. */
export function installTools(): string {
  const manifest = `${JSON.stringify({ private: true, dependencies }, undefined, 2)}\n`;
  const modules = join(folder, "node_modules");
  const stamp = join(folder, "installed.json");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === manifest) return modules;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), manifest);
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"];
  const run = spawnSync("npm", args, { cwd: folder, stdio: ["ignore", 2, 2], shell: process.platform === "win32" });
  if (run.status !== 0) throw new Error("the MCP tools could not be installed; see the lines above");
  writeFileSync(stamp, manifest);
  return modules;
}
