import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { mounted, odd, scripted, serveLoopback } from "../../fixtures/mounting.ts";
import type { McpServerConfig } from "./serverConfig.ts";

async function problemOf(entry: McpServerConfig, startTimeoutMs?: number): Promise<string> {
  const { mount } = await mounted({ s: entry }, { startTimeoutMs });
  expect(mount.problems).toMatchObject([{ code: "server_failed", server: "s" }]);
  return mount.problems[0]?.message ?? "";
}

const answering = (answers: string): McpServerConfig =>
  scripted(`
    const started = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } };
    require("node:readline").createInterface(process.stdin).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      const send = (answer) => id !== undefined && console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
      ${answers}
    });`);

test.each([
  [
    "console.error('no such database'); process.exit(7)",
    /did not start: it ended with exit code 7 \(it says why below\)\nIts standard error:\nno such database$/,
  ],
  ["process.exit(0)", /did not start: it ended with exit code 0 \(check its command and args\)$/],
  ["process.kill(process.pid, 'SIGKILL')", /did not start: it was ended by SIGKILL \(check its command and args\)$/],
  ["process.stdin.destroy(); setTimeout(() => process.exit(4), 100)", /did not start: it ended with exit code 4/],
  [
    "console.log('usage: server URL'); process.exit(2)",
    /exit code 2 \(it says why below\)\nIts lines on standard output that are no messages:\nusage: server URL$/,
  ],
])("a program that runs %s is told by how it ended and what it said", async (script, says) => {
  const problem = await problemOf(scripted(script));
  expect(problem).toMatch(says);
  expect(problem).not.toMatch(/EPIPE|may have completed/);
});

const key = "hush-".repeat(20);
test.each([
  ["'first ' + key + 'x'.repeat(5000) + 'last'", /\nfirst \[redacted\]x+\n\[…\]\nx+last$/],
  ["'x'.repeat(995) + key + 'x'.repeat(5000) + key + 'x'.repeat(995)", /\nx+\n?\[.*\n\[…\]\n.*\]x+$/],
  ["key.repeat(49) + 'x' + key.repeat(200)", /:\n\[…\]$/],
  ["'one line\\n'.repeat(5000)", /\n(?:one line\n)+\[…\]\n(?:one line\n)+one line$/],
])("of a long standard error %s the first and the last 1,000 bytes are told, without secrets", async (said, shown) => {
  const script = `const key = process.env.API_KEY; process.stderr.write(${said}, () => process.exit(1))`;
  const problem = await problemOf({ ...scripted(script), env: { API_KEY: key } } as McpServerConfig);
  expect(problem).toContain("Its standard error:\n");
  expect(problem).toMatch(shown);
  expect(problem).not.toContain("hush");
  expect(problem.length).toBeLessThan(2300);
});

test("an error in place of a list is told as such, and so is an end before it", async () => {
  const first = "if (method === 'initialize') return send({ result: started });";
  const refuses = answering(`${first} send({ error: { code: -32603, message: "no licence" } });`);
  expect(await problemOf(refuses)).toBe("MCP server s answered tools/list with an error: no licence");
  const ends = await problemOf(answering(`${first} if (id !== undefined) process.exit(5);`));
  expect(ends).toBe(
    "MCP server s ended before it answered tools/list; the next call starts it again. It ended with exit code 5.",
  );
});

test("a call that ran when its server ended may have completed, with how it ended", async () => {
  const { registry } = await mounted({ s: odd() });
  expect(await registry.execute("mcp__s__die", {})).toMatch(
    /during the call, which may have completed; .* It ended with exit code 3\./,
  );
});

test("the advice fits the cause", async () => {
  expect(await problemOf(answering(""), 300)).toContain("(startTimeoutMs gives it more time)");
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  expect(await problemOf({ url: `http://127.0.0.1:${port}/mcp` })).toContain("(nothing listens at its url; start it)");
  for (const [status, advice] of [
    [400, "check its url and headers"],
    [401, "check its headers"],
    [403, "check its headers"],
    [404, "check its url"],
    [500, "check its url and headers"],
  ] as const) {
    const origin = await serveLoopback((_request, response) => void response.writeHead(status).end());
    expect(await problemOf({ url: `${origin}/mcp` })).toContain(`(${advice})`);
    const isOld = [400, 404].includes(status);
    expect(await problemOf({ url: `${origin}/mcp`, type: "http" })).toContain(
      isOld ? '(check its url, or give it "type": "sse" if it speaks' : `(${advice})`,
    );
  }
});

test("a page in place of an answer is told by its words", async () => {
  const page =
    '<!DOCTYPE html>\n<html lang="en"><head><title>Error</title></head>\n<body><style>b { }</style><pre>Cannot POST\n /mcp</pre></body></html>';
  const origin = await serveLoopback((_request, response) => void response.writeHead(502).end(page));
  expect(await problemOf({ url: `${origin}/mcp` })).toMatch(/: Cannot POST \/mcp \(check its url and headers\)$/);
});
