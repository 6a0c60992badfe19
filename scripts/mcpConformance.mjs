// Runs the MCP conformance suite against a server and a client of @toolcrib/mcp: `node scripts/mcpConformance.mjs`.
// The suite is installed on demand, at a pinned version, into a folder that git ignores.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { installTools, root } from "./mcpTools.ts";

const suites = join(root, "testing/suites/mcp");
const bin = join(installTools(), "@modelcontextprotocol/conformance/dist/index.js");
const failures = join(suites, "expectedFailures.yaml");
const withSources = ["--import", join(root, "packages/mcp/fixtures/sources.mjs")];
const revisions = ["2025-11-25", "2026-07-28"];

async function run(title, args) {
  const suite = spawn(process.execPath, [bin, ...args, "--expected-failures", failures], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [suite.stdout, suite.stderr]) stream.on("data", (chunk) => (text += chunk));
  const [code] = await once(suite, "close");
  const summary = text.slice(Math.max(0, text.lastIndexOf("=== SUMMARY ===")));
  console.log(
    `\n${title}: ${code === 0 ? "as expected" : "NOT as expected"}\n${code === 0 ? summary : text.slice(-20_000)}`,
  );
  if (code !== 0) process.exitCode = 1;
}

const server = spawn(process.execPath, [...withSources, join(suites, "conformanceServer.ts")], {
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  const [url] = await once(createInterface(server.stdout), "line");
  for (const revision of revisions) {
    await run(`server, ${revision}`, ["server", "--url", url, "--requirements", revision]);
  }
} finally {
  server.kill();
}
const client = [process.execPath, ...withSources, join(suites, "conformanceClient.ts")].join(" ");
for (const revision of revisions) {
  await run(`client, ${revision}`, ["client", "--command", client, "--requirements", revision]);
}
