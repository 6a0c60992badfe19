import { pathToFileURL } from "node:url";
import { Client, type FetchLike, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { defineTool, type Guard, ToolRegistry } from "@toolcrib/core";
import { afterEach, describe, expect, test } from "vitest";
import { type ServeMcpOptions, serveMcp } from "./serveMcp.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Action = "accept" | "decline" | "cancel";
type Era = "legacy" | "modern";

interface Asked {
  readonly ran: string[];
  readonly questions: string[];
  call(text: string): Promise<unknown>;
}

/** A server whose tool `write` waits for the guards, and a client whose user answers with `actions`, one after the other. */
async function open(
  era: Era,
  guards: readonly Guard[],
  actions: readonly Action[] | undefined,
  { roots, ...options }: ServeMcpOptions = {},
  ownFetch: FetchLike = fetch,
  content: Record<string, boolean> = {},
): Promise<Asked> {
  const ran: string[] = [];
  const create = (): ToolRegistry => {
    const parameters = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;
    const registry = new ToolRegistry([
      defineTool({
        name: "write",
        description: "Writes.",
        parameters,
        execute: ({ text }) => ran.push(text) && "written",
      }),
    ]);
    for (const guard of guards) registry.guard(guard);
    return registry;
  };
  const http = { auth: false as const };
  const serving = await serveMcp(roots ? create : create(), { http, ...options, ...(roots && { roots }) });
  closing.push(() => serving.close());
  const client = new Client(
    { name: "test", version: "1" },
    {
      capabilities: { ...(actions && { elicitation: {} }), ...(roots && { roots: {} }) },
      ...(era === "modern" && { versionNegotiation: { mode: "auto" as const } }),
    },
  );
  const questions: string[] = [];
  const left = [...(actions ?? [])];
  if (actions) {
    client.setRequestHandler("elicitation/create", ({ params }) => {
      questions.push(params.message);
      return { action: left.shift() ?? "cancel", content };
    });
  }
  if (roots)
    client.setRequestHandler("roots/list", () => ({ roots: roots.map((path) => ({ uri: pathToFileURL(path).href })) }));
  await client.connect(new StreamableHTTPClientTransport(new URL(String(serving.url)), { fetch: ownFetch }));
  closing.push(() => client.close());
  return {
    ran,
    questions,
    async call(text) {
      const { content, isError } = await client.callTool({ name: "write", arguments: { text } });
      return [isError ?? false, ...content.map((block) => ("text" in block ? block.text : block))];
    },
  };
}

const ask: Guard = ({ args }) => ({ ask: `Write ${String(args.text)}?` });

describe.each(["legacy", "modern"] as const)("%s protocol", (era) => {
  test("a guard's question is put to the client's user, and a yes runs the call", async () => {
    const { ran, questions, call } = await open(era, [ask], ["accept"]);
    expect(await call("a")).toEqual([false, "written"]);
    expect([ran, questions]).toEqual([["a"], ["Write a?"]]);
  });

  test("a no and an unanswered question deny the call", async () => {
    const { ran, call } = await open(era, [ask], ["decline", "cancel"]);
    expect(await call("a")).toEqual([true, "Error executing write: Permission denied: the user said no to this call"]);
    expect(await call("a")).toEqual([true, expect.stringMatching(/Permission denied: the user left the question/)]);
    expect(ran).toEqual([]);
  });

  test("an accepted form whose fields say something is no yes", async () => {
    const { ran, call } = await open(era, [ask], ["accept"], {}, fetch, { approve: false });
    expect(await call("a")).toEqual([true, expect.stringMatching(/Permission denied: the client answered .* fields/)]);
    expect(ran).toEqual([]);
  });

  test("each of several questions needs a yes", async () => {
    const other: Guard = () => ({ ask: "Really?" });
    const both = await open(era, [ask, other], ["accept", "accept"]);
    expect(await both.call("a")).toEqual([false, "written"]);
    expect(both.questions).toEqual(["Write a?", "Really?"]);
    const one = await open(era, [ask, other], ["accept", "decline"]);
    expect(await one.call("a")).toEqual([true, expect.stringMatching(/said no/)]);
    expect(one.ran).toEqual([]);
  });

  test("a yes holds for one call: the next one is asked again", async () => {
    const { ran, questions, call } = await open(era, [ask], ["accept", "decline"]);
    await call("a");
    expect(await call("a")).toEqual([true, expect.stringMatching(/said no/)]);
    expect([ran, questions.length]).toEqual([["a"], 2]);
  });

  test("a client whose user cannot be asked is told so", async () => {
    const { ran, call } = await open(era, [ask], undefined);
    expect(await call("a")).toEqual([
      true,
      "Error executing write: Approval required: Write a? (this client cannot ask its user, because it does not support elicitation)",
    ]);
    expect(ran).toEqual([]);
  });

  test("a client is asked for its roots once, then its user", async () => {
    const { questions, call } = await open(era, [ask], ["accept"], { roots: [process.cwd()] });
    expect(await call("a")).toEqual([false, "written"]);
    expect(questions).toEqual(["Write a?"]);
  });
});

test("an answer that comes without its question does not count", async () => {
  const { ran, send } = await replayed();
  const { key, state } = await send({});
  const inputResponses = { [key]: { action: "accept", content: {} } };
  // Without the sealed state, and for other arguments, the question is put again; a changed state is refused.
  expect(await send({ inputResponses })).toMatchObject({ key });
  expect(await send({ inputResponses, requestState: `${state.slice(0, -4)}AAAA` })).toMatchObject({ code: -32602 });
  const other = await send({ inputResponses, requestState: state, arguments: { text: "b" } });
  expect(other.key).not.toBe(key);
  expect(ran).toEqual([]);
  await send({ inputResponses, requestState: state });
  expect(ran).toEqual(["a"]);
});

/** Sends the request that a client of the newest protocol sends for `write`, with other parameters. */
async function replayed(): Promise<{
  ran: string[];
  send(changes: object): Promise<{ key: string; state: string; code: unknown }>;
}> {
  let sent: { url: string | URL; init: RequestInit } | undefined;
  const { ran, call } = await open("modern", [ask], ["decline"], {}, (url, init = {}) => {
    if (String(init.body).includes("tools/call")) sent ??= { url, init };
    return fetch(url, init);
  });
  await call("a");
  return {
    ran,
    async send(changes) {
      const message = JSON.parse(String(sent?.init.body));
      const body = JSON.stringify({ ...message, params: { ...message.params, ...changes } });
      const response = await fetch(String(sent?.url), { ...sent?.init, body });
      const text = await response.text();
      const answer = JSON.parse(text.startsWith("{") ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? "{}"));
      return {
        key: Object.keys(answer.result?.inputRequests ?? {})[0] ?? "",
        state: String(answer.result?.requestState),
        code: answer.error?.code,
      };
    },
  };
}

test("a read-only server lists and runs only what changes nothing", async () => {
  const none = { type: "object", properties: {} } as const;
  const registry = new ToolRegistry([
    defineTool({ name: "look", description: "Looks.", parameters: none, readOnly: true, execute: () => "seen" }),
    defineTool({ name: "change", description: "Changes.", parameters: none, execute: () => "changed" }),
  ]);
  const serving = await serveMcp(registry, { http: { auth: false }, readOnly: true });
  closing.push(() => serving.close());
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(String(serving.url))));
  closing.push(() => client.close());
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["look"]);
  expect(await client.callTool({ name: "look" })).toMatchObject({ content: [{ text: "seen" }] });
  expect(await client.callTool({ name: "change" })).toMatchObject({
    isError: true,
    content: [{ text: "Tool not available: change may change something, and this server is read-only" }],
  });
  await expect(serveMcp(registry, { readOnly: "yes" as never })).rejects.toThrow("readOnly must be true or false");
});
