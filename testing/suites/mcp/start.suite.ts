import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const path = (file: string): string => fileURLToPath(new URL(`../../../packages/${file}`, import.meta.url));
const bare = [path("mcp/fixtures/bareServer.mjs")];
const ours = [path("cli/dist/bin.js"), "mcp", "serve"];
const rounds = Number(process.env.TOOLCRIB_ROUNDS ?? 2);

const message = (id: number | undefined, method: string, params: object = {}): string =>
  `${JSON.stringify({ jsonrpc: "2.0", ...(id === undefined ? {} : { id }), method, params })}\n`;

/** The milliseconds from the start of the process to its answer to `tools/list`, and the number of tools in it. */
async function start(args: readonly string[]): Promise<{ ms: number; tools: number }> {
  const started = performance.now();
  const server = spawn(process.execPath, [...args], { stdio: ["pipe", "pipe", "inherit"] });
  const clientInfo = { name: "start", version: "1" };
  server.stdin.write(message(0, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo }));
  let end = { ms: 0, tools: 0 };
  for await (const line of createInterface(server.stdout)) {
    const { id, result } = JSON.parse(line) as { id?: number; result?: { tools?: unknown[] } };
    if (id === 0) server.stdin.write(message(undefined, "notifications/initialized") + message(1, "tools/list"));
    if (id !== 1) continue;
    end = { ms: performance.now() - started, tools: result?.tools?.length ?? 0 };
    server.stdin.end();
  }
  if (server.exitCode === null) await once(server, "exit");
  return end;
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

test("toolcrib mcp serve answers its first tools/list; the time beside that of a bare SDK server is printed", async () => {
  const pairs: { bare: number; ours: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const [base, own] = [await start(bare), await start(ours)];
    expect([base.tools, own.tools]).toEqual([1, 8]);
    pairs.push({ bare: base.ms, ours: own.ms });
  }
  const ratios = pairs.map((pair) => pair.ours / pair.bare);
  const [base, own] = [median(pairs.map((pair) => pair.bare)), median(pairs.map((pair) => pair.ours))];
  console.log(
    `first tools/list: bare ${Math.round(base)} ms, ours ${Math.round(own)} ms, ratio ${median(ratios).toFixed(2)} ` +
      `(${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}, ${rounds} rounds)`,
  );
});
