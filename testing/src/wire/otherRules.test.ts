import { describe, expect, test } from "vitest";
import { sharedWireServer } from "../sharedWireServer.ts";
import { answerWith } from "../wireReplies.ts";
import type { Fields } from "./checks.ts";
import { GoodClient, toolOf } from "./goodClient.ts";

const call = (path: string) => ({ name: "look", args: JSON.stringify({ path }) });

function talked(format: "responses" | "chat", model: string): GoodClient {
  const client = new GoodClient(format, model);
  client.ask({ text: "Looking.", calls: [call("a"), call("b")] });
  client.ask({ text: "Done." });
  client.say("And now?");
  client.ask({ calls: [call("c")] });
  return client;
}

type Mutation = (client: GoodClient) => void;
const set =
  (fields: Fields): Mutation =>
  (client) =>
    void Object.assign(client.body, fields);
const first = (client: GoodClient, type: string): Fields => client.body.input.find((item) => item.type === type) ?? {};
const without =
  (type: string): Mutation =>
  ({ body }) =>
    void body.input.splice(
      body.input.findIndex((item) => item.type === type),
      1,
    );
const add =
  (item: Fields): Mutation =>
  ({ body }) =>
    void body.input.push(item);

describe("the Responses API refuses", () => {
  const late = { ...toolOf("responses", "late"), defer_loading: true };
  const format = (schema: Fields): Mutation =>
    set({ text: { format: { type: "json_schema", name: "answer", strict: true, schema } } });
  const allowed = (...names: string[]): Mutation =>
    set({
      tool_choice: { type: "allowed_tools", mode: "auto", tools: names.map((name) => ({ type: "function", name })) },
    });

  const broken: readonly (readonly [string, Mutation, RegExp, string?])[] = [
    [
      "reasoning without what follows it",
      ({ body }) => void body.input.splice(2, 3),
      /reasoning without its following item|answers no open call/,
    ],
    [
      "reasoning that it cannot read",
      (client) => void Object.assign(first(client, "reasoning"), { encrypted_content: "incomplete==" }),
      /encrypted content .* could not be verified/,
    ],
    ["a call with its id and without its reasoning", without("reasoning"), /without its required 'reasoning' item/],
    ["an output without its call", without("function_call"), /answers no open call/],
    ["a call without its output", without("function_call_output"), /before the output/],
    ["an effort that the model has not", set({ reasoning: { effort: "minimal" } }), /does not support 'minimal'/],
    [
      "no effort where there is always some",
      set({ reasoning: { effort: "none" } }),
      /does not support 'none'/,
      "gpt-6.1-sol",
    ],
    ["a temperature beside reasoning", set({ temperature: 0 }), /'temperature' is not supported/],
    ["top_p beside reasoning", set({ top_p: 0.5 }), /'top_p' is not supported/],
    ["the field user", set({ user: "me" }), /unknown field user/],
    ["the field truncation", set({ truncation: "auto" }), /unknown field truncation/],
    ["deferred tools without a search", ({ body }) => void body.tools.push(late), /need the tool_search tool/],
    ["a choice of no tool", set({ tool_choice: { type: "function", name: "x" } }), /'x' not found/],
    ["an allowed tool that is none", allowed("look", "x"), /'x' not found/],
    ["no allowed tools", allowed(), /tool_choice.tools is empty/],
    [
      "allowed tools of another mode",
      set({ tool_choice: { type: "allowed_tools", mode: "none", tools: [{ type: "function", name: "look" }] } }),
      /tool_choice.mode/,
    ],
    ["additional tools of the user", add({ type: "additional_tools", role: "user", tools: [] }), /role is user/],
    ["an update of nothing", add({ type: "configuration_update" }), /updates nothing/],
    ["an update of another field", add({ type: "configuration_update", effort: "low" }), /unknown field effort/],
    ["an open answer", format({ type: "object", properties: {}, required: [] }), /additionalProperties must be false/],
    [
      "an answer with an optional property",
      format({ type: "object", properties: { a: {} }, additionalProperties: false }),
      /'required' must include/,
    ],
    [
      "a strict tool with an optional argument",
      ({ body }) =>
        void Object.assign(body.tools[0] ?? {}, {
          strict: true,
          parameters: { type: "object", properties: { a: {} }, additionalProperties: false },
        }),
      /'required' is required to include/,
    ],
    ["two tools of one name", ({ body }) => void body.tools.push(toolOf("responses", "look")), /name look again/],
  ];
  for (const [title, mutate, words, model = "gpt-6.1-terra"] of broken)
    test(`${title}`, () => {
      const client = talked("responses", model);
      expect(client.judge()).toMatchObject({ problems: [], losses: [] });
      mutate(client);
      expect(client.judge().problems.join("\n")).toMatch(words);
    });

  test("nothing that it takes", () => {
    const search = { type: "tool_search", execution: "client", description: "x", parameters: { type: "object" } };
    const good: readonly Mutation[] = [
      set({ reasoning: { effort: "none" }, temperature: 0 }),
      allowed("look"),
      set({ tool_choice: "none" }),
      add({ type: "additional_tools", role: "developer", tools: [toolOf("responses", "x")] }),
      add({ type: "configuration_update", reasoning: { effort: "low" } }),
      add({ type: "message", role: "developer", content: "Be polite." }),
      ({ body }) => void body.tools.push(search, late),
    ];
    for (const mutate of good) {
      const client = talked("responses", "gpt-6.1-terra");
      mutate(client);
      expect(client.judge()).toMatchObject({ problems: [], losses: [] });
    }
  });

  const lost: readonly (readonly [string, Mutation, RegExp])[] = [
    ["a phase", (client) => void Object.assign(first(client, "message"), { phase: undefined }), /another phase/],
    [
      "arguments written anew",
      (client) => void Object.assign(first(client, "function_call"), { arguments: '{ "path": "a" }' }),
      /another arguments/,
    ],
    [
      "reasoning whose call has no id",
      (client) => {
        for (const item of client.body.input) if (item.type !== "reasoning") delete item.id;
        without("reasoning")(client);
      },
      /the reasoning rs_\d+ is left out/,
    ],
  ];
  for (const [title, mutate, words] of lost)
    test(`nothing, but counts the loss of ${title}`, () => {
      const client = talked("responses", "gpt-6.1-terra");
      mutate(client);
      const { problems, losses } = client.judge();
      expect(problems).toEqual([]);
      expect(losses.join("\n")).toMatch(words);
    });
});

describe("chat completions refuse", () => {
  const broken: readonly (readonly [string, Mutation, RegExp, string?])[] = [
    [
      "tools of a model that always reasons",
      set({ model: "gpt-6.1-sol" }),
      /Function tools with reasoning are not supported/,
    ],
    ["tools with reasoning", set({ model: "gpt-6-luna" }), /Function tools with reasoning/],
    [
      "an effort that the model has not",
      set({ model: "gpt-6.1-terra", reasoning_effort: "minimal" }),
      /does not support 'minimal'/,
    ],
    ["effort and budget at once", set({ reasoning: { effort: "low", max_tokens: 100 } }), /only one of/],
    [
      "a forced tool of Anthropic's",
      set({ tool_choice: "required" }),
      /"tool" and "any" are not supported/,
      "anthropic/claude-sonnet-5.5",
    ],
    [
      "another system prompt before Anthropic's thinking",
      ({ body }) => void Object.assign(body.messages[0] ?? {}, { content: "Be long." }),
      /different conversation.*`system`/,
      "anthropic/claude-sonnet-5.5",
    ],
    [
      "another tool before it",
      ({ body }) => void body.tools.push(toolOf("chat", "x")),
      /`tools` list/,
      "anthropic/claude-sonnet-5.5",
    ],
    [
      "a system message that is not first",
      ({ body }) => void body.messages.push({ role: "system", content: "x" }),
      /not first/,
    ],
    ["a call without its result", ({ body }) => void body.messages.pop(), /before the results/],
    ["a choice of no tool", set({ tool_choice: { type: "function", function: { name: "x" } } }), /of no tool/],
  ];
  for (const [title, mutate, words, model = "m"] of broken)
    test(`${title}`, () => {
      const client = talked("chat", model);
      expect(client.judge()).toMatchObject({ problems: [], losses: [] });
      mutate(client);
      expect(client.judge().problems.join("\n")).toMatch(words);
    });

  test("no tools of a model that may be told not to reason", () => {
    const client = talked("chat", "m");
    set({ model: "gpt-6-sol", reasoning_effort: "none" })(client);
    expect(client.judge().problems).toEqual([]);
  });

  test("nothing where Anthropic's thinking is left out, but count it", () => {
    const client = talked("chat", "anthropic/claude-sonnet-5.5");
    for (const message of client.body.messages) delete message.reasoning_details;
    expect(client.judge()).toMatchObject({ problems: [], losses: { length: 3 } });
  });
});

describe("tokens are counted as they are charged", () => {
  const long = "word ".repeat(1000);
  const counted = (format: "messages" | "responses", model: string): GoodClient => {
    const client = new GoodClient(format, model);
    client.service.account.countsTokens = true;
    if (format === "messages")
      set({
        system: [{ type: "text", text: long, cache_control: { type: "ephemeral" } }],
        cache_control: { type: "ephemeral" },
      })(client);
    else set({ instructions: long.repeat(4) })(client);
    return client;
  };

  test.each([
    ["messages", "claude-sonnet-5-5", { input: 2, read: 0.1, write: 2.5, output: 10 }],
    ["responses", "gpt-6.1-terra", { input: 1, read: 0.05, write: 1.25, output: 5 }],
  ] as const)("over %s what was sent before is read from the cache", (format, model, price) => {
    const client = counted(format, model);
    const one = client.ask({ calls: [call("a")] }).tokens;
    const two = client.ask({ text: "Done." }).tokens;
    expect(one).toMatchObject({ read: 0, plain: 0 });
    expect(two?.read).toBe(one?.write);
    expect(two?.write).toBeLessThan(100);
    const { plain = 0, read = 0, write = 0, output = 0, cost } = two ?? {};
    expect(cost).toBeCloseTo(
      (plain * price.input + read * price.read + write * price.write + output * price.output) / 1e6,
      12,
    );
    client.body.tools.push(toolOf(format, "x"));
    expect(client.judge().tokens?.read).toBe(0);
  });

  test("other settings lose the cache of the messages alone, an hour costs more, and the tier holds for all of a request", () => {
    const client = counted("messages", "claude-haiku-5-5");
    client.ask({ text: "Done." });
    client.say("More.");
    const { read = 0 } = client.judge().tokens ?? {};
    client.body.output_config = { effort: "low" };
    expect(client.judge().tokens?.read).toBeLessThan(read);
    expect(client.judge().tokens?.read).toBeGreaterThan(1000);
    const hour = counted("messages", "claude-sonnet-5-5");
    set({ system: [{ type: "text", text: long, cache_control: { type: "ephemeral", ttl: "1h" } }] })(hour);
    const { write1h = 0, write = 0, output = 0, cost = 0 } = hour.judge().tokens ?? {};
    expect(write1h).toBeGreaterThan(1000);
    expect(cost).toBeCloseTo((write1h * 4 + (write - write1h) * 2.5 + output * 10) / 1e6, 12);
    const large = new GoodClient("messages", "claude-haiku-5-5");
    large.service.account.countsTokens = true;
    large.say(long.repeat(100));
    const { plain = 0, cost: whole = 0 } = large.judge().tokens ?? {};
    expect(whole).toBeCloseTo((plain * 0.5 + 5 * 2.5) / 1e6, 12);
  });
});

describe("the server", () => {
  test("answers a request that breaks a rule as the service does, keeps its script for the next, and holds it against the test", async () => {
    const post = (body: Fields) =>
      fetch(`${server.url}/v1/messages`, { method: "POST", body: JSON.stringify(body) }).then(async (answer) => [
        answer.status,
        await answer.json(),
      ]);
    const body = { model: "claude-sonnet-5-5", max_tokens: 10, messages: [{ role: "user", content: "Hi" }] };
    server.script(answerWith({ text: "Hello." }));
    const message = "temperature, top_p and top_k are not supported for this model";
    expect(await post({ ...body, temperature: 0 })).toEqual([
      400,
      { type: "error", error: { type: "invalid_request_error", message } },
    ]);
    expect(await post(body)).toMatchObject([
      200,
      { content: [{ type: "thinking", thinking: "" }, { text: "Hello." }] },
    ]);
    expect(server.takeProblems()).toEqual([`request 1: ${message}`]);
    expect(server.problems()).toEqual([]);
  });
});

const server = await sharedWireServer();
