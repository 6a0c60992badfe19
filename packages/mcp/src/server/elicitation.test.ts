import { pathToFileURL } from "node:url";
import type { Client, FetchLike } from "@modelcontextprotocol/client";
import { defineTool, type Guard, ToolRegistry } from "@toolcrib/core";
import { describe, expect, test } from "vitest";
import { ask, connected, connectedByStreams, type Era, eras, served } from "../../fixtures/serving.ts";
import { type ServeMcpOptions, serveMcp } from "./serveMcp.ts";

type Action = "accept" | "decline" | "cancel";

interface Asked {
  readonly ran: string[];
  readonly questions: string[];
  call(text: string): Promise<unknown>;
}

/** A server whose tool `write` waits for the guards, and a client whose user answers with `actions`, one after the other. */
async function open(
  era: Era | "stdio",
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
  const questions: string[] = [];
  const left = [...(actions ?? [])];
  const prepare = (client: Client): void => {
    if (actions) {
      client.setRequestHandler("elicitation/create", ({ params }) => {
        questions.push(params.message);
        return { action: left.shift() ?? "cancel", content };
      });
    }
    const listed = () => ({ roots: (roots ?? []).map((path) => ({ uri: pathToFileURL(path).href })) });
    if (roots) client.setRequestHandler("roots/list", listed);
  };
  const capabilities = { ...(actions && { elicitation: {} }), ...(roots && { roots: {} }) };
  const source = roots ? create : create();
  const client =
    era === "stdio"
      ? await connectedByStreams(source, { capabilities, prepare })
      : await connected(await served(source, { ...options, ...(roots && { roots }) }), {
          era,
          capabilities,
          prepare,
          fetch: ownFetch,
        });
  return {
    ran,
    questions,
    call: (text) => ask(client, "write", { text }),
  };
}

const asking: Guard = ({ args }) => ({ ask: `Write ${String(args.text)}?` });

describe.each(eras)("%s protocol", (era) => {
  test("a guard's question is put to the client's user, and a yes runs the call", async () => {
    const { ran, questions, call } = await open(era, [asking], ["accept"]);
    expect(await call("a")).toEqual([false, "written"]);
    expect([ran, questions]).toEqual([["a"], ["Write a?"]]);
  });

  test("a no and an unanswered question deny the call", async () => {
    const { ran, call } = await open(era, [asking], ["decline", "cancel"]);
    expect(await call("a")).toEqual([true, "Error executing write: Permission denied: the user said no to this call"]);
    expect(await call("a")).toEqual([true, expect.stringMatching(/Permission denied: the user left the question/)]);
    expect(ran).toEqual([]);
  });

  test("an accepted form whose fields say something is no yes", async () => {
    const { ran, call } = await open(era, [asking], ["accept"], {}, fetch, { approve: false });
    expect(await call("a")).toEqual([true, expect.stringMatching(/Permission denied: the client answered .* fields/)]);
    expect(ran).toEqual([]);
  });

  test("each of several questions needs a yes", async () => {
    const other: Guard = () => ({ ask: "Really?" });
    const both = await open(era, [asking, other], ["accept", "accept"]);
    expect(await both.call("a")).toEqual([false, "written"]);
    expect(both.questions).toEqual(["Write a?", "Really?"]);
    const one = await open(era, [asking, other], ["accept", "decline"]);
    expect(await one.call("a")).toEqual([true, expect.stringMatching(/said no/)]);
    expect(one.ran).toEqual([]);
  });

  test("a yes holds for one call: the next one is asked again", async () => {
    const { ran, questions, call } = await open(era, [asking], ["accept", "decline"]);
    await call("a");
    expect(await call("a")).toEqual([true, expect.stringMatching(/said no/)]);
    expect([ran, questions.length]).toEqual([["a"], 2]);
  });

  test("a client whose user cannot be asked is told so", async () => {
    const { ran, call } = await open(era, [asking], undefined);
    expect(await call("a")).toEqual([
      true,
      "Error executing write: Approval required: Write a? (this client cannot ask its user, because it does not support elicitation)",
    ]);
    expect(ran).toEqual([]);
  });

  test("a client is asked for its roots once, then its user", async () => {
    const { questions, call } = await open(era, [asking], ["accept"], { roots: [process.cwd()] });
    expect(await call("a")).toEqual([false, "written"]);
    expect(questions).toEqual(["Write a?"]);
  });
});

test("a question reaches the client over standard input and output too", async () => {
  const { questions, call } = await open("stdio", [asking], ["accept", "decline"]);
  expect(await call("a")).toEqual([false, "written"]);
  expect(await call("b")).toEqual([true, expect.stringMatching(/said no/)]);
  expect(questions).toEqual(["Write a?", "Write b?"]);
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
  const { ran, call } = await open("modern", [asking], ["decline"], {}, (url, init = {}) => {
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
  const client = await connected(await served(registry, { readOnly: true }));
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["look"]);
  expect(await ask(client, "look")).toEqual([false, "seen"]);
  expect(await ask(client, "change")).toEqual([
    true,
    "Tool not available: change may change something, and this server is read-only",
  ]);
  await expect(serveMcp(registry, { readOnly: "yes" as never })).rejects.toThrow("readOnly must be true or false");
});

test("a tool for programs alone is not listed", async () => {
  const none = { type: "object", properties: {} } as const;
  const tool = (name: string, callers: readonly ("model" | "programs")[]) =>
    defineTool({ name, description: "Looks.", parameters: none, callers, execute: () => "seen" });
  const registry = new ToolRegistry([tool("hidden", ["programs"]), tool("shown", ["model", "programs"])]);
  const client = await connected(await served(registry));
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["shown"]);
});
