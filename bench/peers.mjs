// Peers are installed on demand, each alone in an ignored folder at a pinned version; none is a dependency of the workspace.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const folder = fileURLToPath(new URL("./.peers/", import.meta.url));

export const peers = {
  "gemini-cli-core": { "@google/gemini-cli-core": "0.61.0" },
  "just-bash": { "just-bash": "3.4.2" },
  ai: { ai: "7.0.173", zod: "4.6.7" },
  "openai-agents": { "@openai/agents": "0.20.0", zod: "4.6.7" },
  "pi-agent-core": { "@mariozechner/pi-agent-core": "0.73.1", "@mariozechner/pi-ai": "0.73.1" },
  "write-file-atomic": { "write-file-atomic": "8.0.0" },
  codex: { "@openai/codex": "0.171.0" },
  pi: { "@earendil-works/pi-coding-agent": "1.6.0" },
  "mcp-sdk": {
    "@modelcontextprotocol/client": "2.4.0",
    "@modelcontextprotocol/node": "2.1.2",
    "@modelcontextprotocol/server": "2.4.0",
    "@cfworker/json-schema": "4.1.1",
  },
  "ai-code-mode": { "@ai-sdk/code-mode": "1.0.42", ai: "7.0.173", zod: "4.6.7" },
  "pi-codemode": { "@earendil-works/pi-codemode": "1.6.0" },
  "tanstack-code-mode": { "@tanstack/ai-isolate-quickjs": "0.1.30", "@tanstack/ai-code-mode": "0.2.5" },
  "mcp-filesystem": { "@modelcontextprotocol/server-filesystem": "2026.8.31" },
};

/** The folder where a peer is installed; throws where it cannot be had. */
export function installPeer(name) {
  const home = `${folder}${name}/`;
  if (!existsSync(`${home}node_modules`)) {
    mkdirSync(home, { recursive: true });
    writeFileSync(`${home}package.json`, JSON.stringify({ private: true, dependencies: peers[name] }));
    // Its peers do not name the versions that it is used with.
    const more = name === "ai-code-mode" ? ["--legacy-peer-deps"] : [];
    execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", ...more], {
      cwd: home,
      stdio: "ignore",
    });
  }
  return home;
}

/** Imports a module of an installed peer: resolved from its folder, with its own conditions. */
export async function importPeer(home, specifier) {
  const loader = `${home}load.mjs`;
  if (!existsSync(loader)) writeFileSync(loader, "export const load = (specifier) => import(specifier);\n");
  const { load } = await import(pathToFileURL(loader).href);
  return load(specifier);
}

/** The program of ripgrep that npm brings for this system, or undefined where it brings none. */
export function ripgrep() {
  try {
    const manifest = createRequire(import.meta.url).resolve("@vscode/ripgrep-linux-x64/package.json");
    return join(dirname(manifest), "bin", "rg");
  } catch {
    return undefined;
  }
}
