import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { path } from "../fixtures/mounting.ts";
import { createFixtureRegistry } from "../fixtures/registry.ts";
import { servedEntry, servedStreams } from "../fixtures/serving.ts";

interface Answer {
  id?: unknown;
  result?: unknown;
  error?: { code: number; message: string };
}

const initialize = {
  jsonrpc: "2.0",
  id: "start",
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};
const call = (id: unknown, params: unknown): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
const deep = `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}}`;

/** Lines that are answered with an error of this code, and the id that it names. */
const refused: readonly [line: string, code: number, id: unknown][] = [
  ["nonsense", -32700, null],
  ["{", -32700, null],
  ["7", -32600, null],
  ["null", -32600, null],
  ['"text"', -32600, null],
  ["[]", -32600, null],
  ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, null],
  ["{}", -32600, null],
  ['{"jsonrpc":"2.0","id":1}', -32600, 1],
  ['{"jsonrpc":"2.0","id":1,"method":7}', -32600, 1],
  ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, 1],
  ['{"id":1,"method":"ping"}', -32600, 1],
  ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, null],
  ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, null],
  ['{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, null],
  ['{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600, null],
  ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, null],
  ['{"jsonrpc":"2.0","id":1,"method":"ping","params":7}', -32602, 1],
  ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32602, 1],
  ['{"jsonrpc":"2.0","id":1,"method":"no/such"}', -32601, 1],
  ["x".repeat(11 * 1024 * 1024), -32600, null],
  [call(1, null), -32602, 1],
  [call(1, {}), -32602, 1],
  [call(1, { name: 7 }), -32602, 1],
  [call(1, { name: "no_such_tool" }), -32602, 1],
];

/** Lines that are answered with a result. */
const accepted: readonly string[] = [
  '{"jsonrpc":"2.0","id":1,"method":"ping","params":null}',
  '{"jsonrpc":"2.0","id":1,"method":"ping"}\r',
  '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}',
  call(1, { name: "roots" }),
  deep,
];

/** Lines that nobody answers, and that end nothing. */
const unanswered = [
  "",
  "   ",
  '{"jsonrpc":"2.0","method":"notifications/x","params":7}',
  '{"jsonrpc":"2.0","method":"notifications/cancelled","params":null}',
  '{"jsonrpc":"2.0","id":1,"result":7}',
  '{"jsonrpc":"2.0","id":{},"error":{}}',
];

test("over standard input a line that is not a message is answered with an error, and the next line is read", async () => {
  const server = spawn(process.execPath, ["--import", path("sources.mjs"), path("stdioServer.ts")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void server.kill("SIGKILL"));
  const answers = createInterface(server.stdout)[Symbol.asyncIterator]();
  const ask = async (line: string): Promise<Answer> => {
    server.stdin.write(`${line}\n`);
    return JSON.parse(String((await answers.next()).value));
  };
  expect(await ask(JSON.stringify(initialize))).toMatchObject({ id: "start", result: {} });
  for (const [line, code, id] of refused) {
    expect([line.slice(0, 60), await ask(line)]).toMatchObject([line.slice(0, 60), { id, error: { code } }]);
  }
  for (const line of unanswered) server.stdin.write(`${line}\n`);
  for (const line of accepted) expect([line, await ask(line)]).toMatchObject([line, { id: 1, result: {} }]);
  const ended = once(server, "exit");
  server.stdin.end();
  expect(await ended).toEqual([0, null]);
});

test("a first line that is not a message does not end the server", async () => {
  const { input, output } = servedStreams(createFixtureRegistry);
  const answers = createInterface(output)[Symbol.asyncIterator]();
  for (const line of ["nonsense", '{"jsonrpc":"2.0","id":1,"method":7}', JSON.stringify(initialize)]) {
    input.write(`${line}\n`);
  }
  const ids = [];
  for (let count = 0; count < 3; count += 1) ids.push(JSON.parse(String((await answers.next()).value)).id);
  expect(ids).toEqual([null, 1, "start"]);
});

test("over HTTP every body is answered, and none ends the server", async () => {
  const { url } = await servedEntry();
  const post = async (body: string, session: Record<string, string> = {}): Promise<Response> =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...session },
      body,
    });
  const started = await post(JSON.stringify(initialize));
  await started.text();
  const session = { "mcp-session-id": String(started.headers.get("mcp-session-id")) };
  for (const headers of [{}, session]) {
    // The long one is read before its session is looked for.
    for (const body of [...refused.map(([line]) => line), ...accepted].filter(
      (one) => headers !== session || one.length < 1e6,
    )) {
      const response = await post(body, headers);
      expect([body.slice(0, 60), await response.text()]).toEqual([
        body.slice(0, 60),
        expect.stringMatching(/"(error|result)"/),
      ]);
    }
    for (const body of unanswered) await (await post(body, headers)).text();
  }
  const last = await post('{"jsonrpc":"2.0","id":1,"method":"ping"}', session);
  expect(await last.text()).toContain('"result":{}');
});

test("over HTTP a body beyond 10 MB is refused, whether its length is declared or not", async () => {
  const { url } = await servedEntry();
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const megabyte = new Uint8Array(2 ** 20).fill(32);
  const bodies = {
    declared: () => new Uint8Array(11 * 2 ** 20).fill(32),
    streamed: () =>
      new ReadableStream({
        pull: (controller) => controller.enqueue(megabyte),
      }),
  };
  for (const body of Object.values(bodies)) {
    const response = await fetch(url, { method: "POST", headers, body: body(), duplex: "half" } as RequestInit);
    expect(response.status).toBe(413);
    expect(await response.text()).toContain("must not exceed");
  }
});
