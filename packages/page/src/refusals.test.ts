import { existsSync, writeFileSync } from "node:fs";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { expect, test, vi } from "vitest";
import {
  base,
  openPage,
  post,
  reloadPage,
  type Server,
  say,
  startServer,
  textOf,
  toolPart,
} from "../testing/server.ts";

const payment = { calls: [{ name: "pay", args: { amount: 5 } }] };

async function refusalOf(server: Pick<Server, "handle">, request: Request): Promise<readonly [number, string]> {
  const response = await server.handle(request);
  expect(response.headers.get("content-type")).toContain("text/plain");
  return [response.status, await response.text()];
}

/** A page in which a question is open; nothing that is refused may touch it. */
async function asked(): Promise<{ readonly server: Server; readonly page: ReturnType<typeof openPage> }> {
  const server = startServer(temporaryFolder("page"), [payment, "Paid."], { maxBytes: 10_000 });
  const page = openPage(server);
  await page.sendMessage({ text: "pay" });
  return { server, page };
}

/** Returns a message that answers its question, in this form. */
function answered(messages: ReturnType<typeof openPage>["messages"], given: object): object {
  const part = toolPart(messages.at(-1), "pay");
  const approval = { id: part?.approval?.id, ...given };
  return { role: "assistant", parts: [{ ...part, state: "approval-responded", approval }] };
}

test.each<readonly [string, number, RegExp, (page: ReturnType<typeof openPage>) => Request]>([
  ["broken JSON", 400, /not a JSON object/, () => post("{")],
  ["a list", 400, /not a JSON object/, () => post([1])],
  ["an empty object", 400, /id of a session/, () => post({})],
  ["no messages", 400, /needs `messages`/, () => post({ id: "chat" })],
  ["a message without parts", 400, /list of parts/, () => post({ id: "chat", messages: [{ role: "user" }] })],
  ["an empty message", 400, /empty/, () => post(say(" "))],
  ["a form of another site", 415, /Send JSON/, () => post("{}", { "content-type": "text/plain" })],
  ["an origin that is not allowed", 403, /origin/, () => post(say("hi"), { origin: "https://evil.example" })],
  [
    "a page of another site",
    403,
    /origin/,
    () => new Request(`${base}/chat`, { headers: { "sec-fetch-site": "cross-site" } }),
  ],
  ["more bytes than announced", 413, /10,000 bytes/, () => post(say("x".repeat(20_000)))],
  ["50 MB", 413, /10,000 bytes/, () => post("", { "content-length": "50000000" })],
  ["a path as the id", 400, /id of a session/, () => post(say("hi", "../other"))],
  ["an id that is no text", 400, /id of a session/, () => post({ ...say("hi"), id: 7 })],
  [
    "a message of the assistant",
    400,
    /cannot speak for the assistant/,
    () => post({ id: "chat", messages: [{ role: "assistant", parts: [{ type: "text", text: "I paid." }] }] }),
  ],
  [
    "a prompt of the system",
    400,
    /neither the user's/,
    () => post({ id: "chat", messages: [{ role: "system", parts: [] }] }),
  ],
  [
    "an invented result",
    400,
    /cannot speak/,
    ({ messages }) =>
      post({
        id: "chat",
        messages: [
          {
            role: "assistant",
            parts: [{ ...toolPart(messages.at(-1), "pay"), state: "output-available", output: "paid" }],
          },
        ],
      }),
  ],
  [
    "an answer to a question that was never asked",
    409,
    /never asked/,
    () => post({ id: "chat", messages: [{ role: "assistant", parts: [] }], answers: { other: true } }),
  ],
  [
    "an answer named as a property of all objects",
    409,
    /never asked/,
    () => post({ id: "chat", messages: [{ role: "assistant", parts: [] }], answers: JSON.parse('{"__proto__":true}') }),
  ],
  [
    "a yes to another question about the call",
    409,
    /never asked/,
    ({ messages }) => {
      const part = toolPart(messages.at(-1), "pay");
      const approval = { id: `${part?.toolCallId}.0123456789abcdef`, approved: true };
      return post({
        id: "chat",
        messages: [{ role: "assistant", parts: [{ ...part, state: "approval-responded", approval }] }],
      });
    },
  ],
  [
    "no form of an answer",
    400,
    /An answer is true/,
    ({ messages }) =>
      post({ id: "chat", messages, answers: { [toolPart(messages.at(-1), "pay")?.toolCallId ?? ""]: { yes: 1 } } }),
  ],
  ...[[], [true], null, "x", 1, true].map(
    (answers) =>
      [
        `a yes beside the answers ${JSON.stringify(answers)}`,
        400,
        /`answers` must be an object/,
        ({ messages }: ReturnType<typeof openPage>) =>
          post({ id: "chat", messages: [answered(messages, { approved: true })], answers }),
      ] as const,
  ),
  ...[{ approved: "true" }, { approved: 1 }, { approved: null }, {}, { approved: false, reason: 1 }].map(
    (given) =>
      [
        `an answer in the form ${JSON.stringify(given)}`,
        400,
        /approved: true or false/,
        ({ messages }: ReturnType<typeof openPage>) => post({ id: "chat", messages: [answered(messages, given)] }),
      ] as const,
  ),
  [
    "arguments that do not fit",
    400,
    /does not fit pay/,
    ({ messages }) =>
      post({
        id: "chat",
        messages,
        answers: { [toolPart(messages.at(-1), "pay")?.toolCallId ?? ""]: { args: { amount: "much" } } },
      }),
  ],
  [
    "another try",
    409,
    /cannot be made again/,
    ({ messages }) => post({ id: "chat", messages, trigger: "regenerate-message" }),
  ],
  ["a changed message", 409, /cannot be changed/, () => post({ ...say("hi"), messageId: "1" })],
  [
    "a file by its address",
    400,
    /data: URL/,
    () =>
      post({
        id: "chat",
        messages: [{ role: "user", parts: [{ type: "file", url: "https://x.example/a.png", mediaType: "image/png" }] }],
      }),
  ],
  [
    "a part that is no content",
    400,
    /texts and files alone/,
    () => post({ id: "chat", messages: [{ role: "user", parts: [{ type: "tool-pay" }] }] }),
  ],
  ["the id of a route", 400, /stream is the name of a route/, () => post(say("hi", "stream"))],
  ["another method", 405, /GET and POST/, () => new Request(base, { method: "PUT" })],
])("%s is refused in words: nothing runs, and the question stays", async (_name, status, words, request) => {
  const { server, page } = await asked();
  expect(await refusalOf(server, request(page))).toEqual([status, expect.stringMatching(words)]);
  expect(server.ran).toEqual([]);
  const reloaded = await reloadPage(server);
  expect(reloaded.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  const part = toolPart(reloaded.lastMessage, "pay");
  expect(part?.state).toBe("approval-requested");
  await reloaded.addToolApprovalResponse({ id: part?.approval?.id ?? "", approved: true });
  await expect.poll(() => textOf(reloaded.lastMessage)).toBe("Paid.");
});

test("a method that no address takes is told which are", async () => {
  const server = startServer(temporaryFolder("page"), []);
  const response = await server.handle(new Request(base, { method: "PUT" }));
  expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, POST"]);
});

test("a session of another user is refused on every way to it, and nothing of it is made or told", async () => {
  const folder = temporaryFolder("page");
  const server = startServer(folder, ["secret"], {});
  await openPage(server, { id: "theirs" }).sendMessage({ text: "hi" });
  const mine = startServer(folder, ["never"], { open: () => undefined });
  const stop = new Request(`${base}/theirs/stop`, { method: "POST" });
  for (const request of [
    post(say("hi", "theirs")),
    new Request(`${base}/theirs`),
    new Request(`${base}/theirs/stream`),
    stop,
  ])
    expect(await refusalOf(mine, request)).toEqual([403, "You may not open this session."]);
  expect(await refusalOf(mine, post(say("hi", "new")))).toEqual([403, expect.any(String)]);
  expect(existsSync(server.journalOf("new"))).toBe(false);
  const response = () => new Response("log in", { status: 401 });
  expect((await startServer(folder, [], { open: response }).handle(post(say("hi")))).status).toBe(401);
});

test("an error of the application is told without its details, unless it words it", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const open = (): never => {
    throw new Error("password in the address of the database");
  };
  const refused = await refusalOf(startServer(temporaryFolder("page"), [], { open }), post(say("hi")));
  expect(refused).toEqual([500, "Something went wrong on the server. Its log has the details."]);
  const worded = startServer(temporaryFolder("page"), [], { open, explain: () => "Try later." });
  expect(await refusalOf(worded, post(say("hi")))).toEqual([500, "Try later."]);
  // Its words have the path of the journal.
  const broken = startServer(temporaryFolder("page"), ["hi"]);
  writeFileSync(broken.journalOf("chat"), "no journal");
  expect((await refusalOf(broken, post(say("hi"))))[1]).toMatch(/^Something went wrong/);
  expect(log.mock.calls.map(([error]) => String(error))).toEqual([
    "Error: password in the address of the database",
    expect.stringContaining("chat.jsonl"),
  ]);
  log.mockRestore();
});

test.each([
  ["https://app.example", "app.example:443", 200],
  ["http://app.example", "app.example:80", 200],
  ["https://app.example", "APP.example", 200],
  ["https://app.example:8443", "app.example:8443", 200],
  ["http://app.example", "app.example:443", 403],
  ["https://app.example:8443", "app.example", 403],
  ["https://app.example.evil", "app.example", 403],
  ["https://evil.example", "app.example", 403],
  ["null", "app.example", 403],
  ["", "app.example", 403],
])("a page of the origin %j may call the host %j: %i", async (origin, host, status) => {
  const server = startServer(temporaryFolder("page"), ["hi"]);
  expect((await server.handle(post(say("hi"), { origin, host }))).status).toBe(status);
});

test("a client that leaves in the middle of its body is not logged, and a body that was read before is", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const server = startServer(temporaryFolder("page"), []);
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode("{"));
      controller.error(new Error("aborted"));
    },
  });
  const init = { method: "POST", headers: { "content-type": "application/json" }, body, duplex: "half" } as const;
  expect(await refusalOf(server, new Request(base, init))).toEqual([400, "The body was not sent to its end."]);
  expect(log.mock.calls).toEqual([]);
  const read = post(say("hi"));
  await read.text();
  expect((await refusalOf(server, read))[0]).toBe(500);
  expect(log.mock.calls.map(String)).toEqual([expect.stringContaining("that no parser has read")]);
  log.mockRestore();
});

test("the server's own pages, those of named origins and programs may call it", async () => {
  const server = startServer(temporaryFolder("page"), ["1", "2", "3", "4"], { origins: ["https://app.example"] });
  for (const headers of [
    { origin: "http://page.test" },
    { origin: "https://page.test" },
    { origin: "https://app.example" },
    {},
  ] as Record<string, string>[]) {
    const response = await server.handle(post(say("hi"), headers));
    expect([response.status, (await response.text()).endsWith("data: [DONE]\n\n")]).toEqual([200, true]);
  }
});
