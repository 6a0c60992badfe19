import { describe, expect, test } from "vitest";
import type { Fields } from "./checks.ts";
import { GoodClient, toolOf } from "./goodClient.ts";
import { betas } from "./rules.ts";

const call = (path: string) => ({ name: "look", args: JSON.stringify({ path }) });

/** A conversation of three requests, with thinking in each reply. */
function talked(model = "claude-sonnet-5-5"): GoodClient {
  const client = new GoodClient("messages", model);
  client.ask({ text: "Looking.", calls: [call("a"), call("b")] });
  client.ask({ text: "Done." });
  client.say("And now?");
  client.ask({ calls: [call("c")] });
  return client;
}

type Mutation = (client: GoodClient) => void;
const contentOf = (client: GoodClient, index: number) => client.body.messages[index]?.content as Fields[];
const name =
  (...named: string[]): Mutation =>
  (client) => {
    client.headers["anthropic-beta"] = named.join(",");
  };
const system =
  (content: unknown, more: Fields = {}): Mutation =>
  (client) => {
    client.body.messages.push({ role: "system", content, ...more });
  };
const set =
  (fields: Fields): Mutation =>
  (client) =>
    void Object.assign(client.body, fields);
const all =
  (...mutations: Mutation[]): Mutation =>
  (client) => {
    for (const mutation of mutations) mutation(client);
  };
const addition = (tool: Fields) => [{ type: "tool_addition", tool }];
const removal = [{ type: "tool_removal", tool: { type: "tool_reference", name: "look" } }];
const inBlock =
  (message: number, block: number, fields: Fields): Mutation =>
  (client) =>
    void Object.assign(contentOf(client, message)[block] ?? {}, fields);
const inTool =
  (fields: Fields): Mutation =>
  ({ body }) =>
    void Object.assign(body.tools[0] ?? {}, fields);
const inFirst =
  (fields: Fields): Mutation =>
  ({ body }) =>
    void Object.assign(body.messages[0] ?? {}, fields);
const more =
  (tool: Fields): Mutation =>
  ({ body }) =>
    void body.tools.push(tool);
const also =
  (message: Fields): Mutation =>
  ({ body }) =>
    void body.messages.push(message);
const deferred = more({ ...toolOf("messages", "late"), defer_loading: true });

test("a client that keeps the rules is refused nothing and loses nothing", () => {
  expect(talked().judge()).toMatchObject({ problems: [], losses: [] });
});

describe("what stands before thinking may not change", () => {
  const edits: readonly (readonly [string, Mutation, RegExp])[] = [
    [
      "another system prompt",
      set({ system: "Be long." }),
      /messages\.1\.content\.0: Invalid `signature`.*different conversation.*`system` prompt/,
    ],
    ["a tool more", more(toolOf("messages", "more")), /`tools` list differs/],
    ["a tool less", set({ tools: undefined }), /`tools` list differs/],
    ["another description", inTool({ description: "x" }), /`tools` list/],
    [
      "a tool that is deferred now",
      all(inTool({ defer_loading: true }), more(toolOf("messages", "x"))),
      /`tools` list/,
    ],
    ["another first message", inFirst({ content: "Stop." }), /conversation before it/],
    [
      "an old result cleared",
      inBlock(2, 0, { content: "[cleared]" }),
      /messages\.3\.content\.0: .*conversation before it/,
    ],
    ["the input of an old call", inBlock(1, 2, { input: { path: "z" } }), /messages\.3\.content\.0/],
    [
      "a text added to an earlier turn",
      (client) => void contentOf(client, 2).push({ type: "text", text: "now" }),
      /messages\.3/,
    ],
    ["a message moved", ({ body }) => void body.messages.splice(4, 0, { role: "user", content: "x" }), /messages\.6/],
    [
      "thinking left out between others",
      (client) => void contentOf(client, 3).shift(),
      /messages\.5\.content\.0: .*`thinking` block before it/,
    ],
  ];
  for (const [title, mutate, words] of edits)
    test(`${title} is refused, or let through and counted where the account is not enforced`, () => {
      const client = talked();
      mutate(client);
      const refused = client.judge();
      expect(refused.problems.join("\n")).toMatch(words);
      client.service.account.isEnforced = false;
      name(betas.binding)(client);
      const { problems, losses, transformations } = client.judge();
      expect(problems).toEqual([]);
      for (const lost of [refused.losses, losses]) expect(lost.length).toBeGreaterThan(0);
      const allowed = { type: "thinking_mismatch_allowed", reason: "prefix_binding_mismatch" };
      expect(transformations?.[0]).toMatchObject(allowed);
      set({ thinking: { type: "adaptive", block_binding: {} } })(client);
      expect(client.judge().problems.join("\n")).toMatch(words);
    });

  const kept: readonly (readonly [string, Mutation])[] = [
    ["messages at the end", (client) => client.say("More.")],
    ["a system message at the end", system("Be polite.")],
    ["one for a turn", all(name(betas.clearAt), system("Be polite.", { clear_at: "next_user_message" }))],
    ["a deferred tool that nothing refers to yet", deferred],
    [
      "a deferred tool that is added at the end",
      all(deferred, name(betas.toolChanges), system(addition({ type: "tool_reference", name: "late" }))),
    ],
    [
      "a tool defined at the end",
      all(name(betas.inlineTools), system(addition({ type: "tool_definition", definition: toolOf("messages", "x") }))),
    ],
    ["a tool withdrawn at the end", all(name(betas.toolChanges), system(removal))],
    ["effort by a message", all(name(betas.effort), system([], { output_config: { effort: "low" } }))],
    [
      "other settings",
      set({
        max_tokens: 100,
        output_config: { effort: "low" },
        tool_choice: { type: "none" },
        metadata: { user_id: "x" },
      }),
    ],
    ["cache marks", inBlock(2, 0, { cache_control: { type: "ephemeral" } })],
    ["a text in place of a block", set({ system: [{ type: "text", text: "Be brief." }] })],
    ["thinking left out from the start", (client) => void contentOf(client, 1).shift()],
    ["the order of the tools", ({ body }) => void body.tools.reverse()],
  ];
  for (const [title, mutate] of kept)
    test(`${title} keeps it`, () => {
      const client = talked();
      mutate(client);
      expect(client.judge().problems).toEqual([]);
      expect(client.judge().losses.filter((loss) => loss.includes("thinking is lost"))).toEqual([]);
      // And what the model thinks after it fits, too.
      client.ask({ calls: [call("d")] });
      expect(client.judge().problems).toEqual([]);
    });

  test("what goes on after such a change is bound to it", () => {
    const client = talked();
    system("Be polite.")(client);
    client.ask({ text: "Please." });
    client.say("Next.");
    client.body.messages.splice(7, 1);
    expect(client.judge().problems.join("\n")).toMatch(/messages\.7\.content\.0: .*conversation before it/);
  });

  test("thinking that is all left out is a loss that is counted", () => {
    const client = talked();
    for (const index of [1, 3, 5]) contentOf(client, index).shift();
    expect(client.judge()).toMatchObject({ problems: [], losses: { length: 3 } });
  });

  test("thinking that was left out once may not come back", () => {
    const client = talked();
    const [thinking] = contentOf(client, 1).splice(0, 1);
    client.ask({ text: "Done." });
    client.say("And now?");
    contentOf(client, 1).unshift(thinking ?? {});
    expect(client.judge().problems).toEqual([]);
    const other = new GoodClient("messages", "claude-sonnet-5-5");
    other.ask({ calls: [call("a")] });
    const [first] = contentOf(other, 1).splice(0, 1);
    other.ask({ calls: [call("b")] });
    contentOf(other, 1).unshift(first ?? {});
    expect(other.judge().problems.join("\n")).toMatch(/messages\.3\.content\.0/);
  });

  test("drop_block goes on without it, tells what it dropped, and keeps what was made before and after", () => {
    const client = talked();
    inBlock(2, 0, { content: "[cleared]" })(client);
    name(betas.binding)(client);
    set({ thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } } })(client);
    const dropped = ["messages.3.content.0", "messages.5.content.0"];
    expect(client.judge().transformations).toEqual(
      dropped.map((path) => ({ type: "thinking_dropped", path, reason: "prefix_binding_mismatch" })),
    );
    client.ask({ text: "Done." });
    client.say("Go on.");
    expect(client.judge().transformations).toHaveLength(2);
    client.body.thinking = undefined;
    client.headers = {};
    expect(client.judge().problems[0]).toMatch(/^messages\.3\.content\.0: .*set `thinking\.block_binding/);
  });

  test("a changed signature and a changed text are refused also with drop_block", () => {
    for (const change of [{ signature: "sig_0==" }, { thinking: "Aha." }]) {
      const client = talked();
      inBlock(1, 0, change)(client);
      name(betas.binding)(client);
      set({ thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } } })(client);
      expect(client.judge().problems[0]).toBe("messages.1.content.0: Invalid `signature` in `thinking` block.");
    }
  });

  test("thinking of a model that cannot be read is dropped without an error, and fits again when its model is back", () => {
    const client = talked();
    client.body.model = "claude-opus-5-5";
    expect(client.judge()).toMatchObject({ problems: [], losses: [] });
    client.ask({ text: "Opus here." });
    client.say("And now?");
    client.body.model = "claude-sonnet-5-5";
    expect(client.judge()).toMatchObject({ problems: [], losses: [] });
  });

  test("a model that does not check takes the setting and lets every change through", () => {
    const client = new GoodClient("messages", "claude-haiku-4-5");
    set({ thinking: { type: "enabled", budget_tokens: 2000, block_binding: {} } })(client);
    name(betas.binding)(client);
    client.ask({ calls: [call("a")] });
    client.body.system = "Be long.";
    expect(client.judge()).toMatchObject({ problems: [], losses: [] });
  });

  test("a reply that does not come back as it came is a loss", () => {
    const client = talked();
    inBlock(5, 1, { input: { path: "other" } })(client);
    expect(client.judge().losses).toEqual(["messages.5.content.1 is not the reply's tool_use as it came"]);
  });
});

describe("the Messages API refuses", () => {
  const png = (width: number, height: number): Fields => {
    const bytes = Buffer.alloc(33);
    bytes.write("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1");
    bytes.writeUInt32BE(width, 16);
    bytes.writeUInt32BE(height, 20);
    return { type: "image", source: { type: "base64", media_type: "image/png", data: bytes.toString("base64") } };
  };
  const pictures =
    (count: number, width: number): Mutation =>
    (client) =>
      void client.body.messages.push({ role: "user", content: Array.from({ length: count }, () => png(width, 10)) });
  const strictTool = (fields: Fields): Fields => ({ ...toolOf("messages", "s"), strict: true, ...fields });
  const schema = (properties: Fields, required: string[] = []): Fields => ({
    type: "object",
    properties,
    required,
    additionalProperties: false,
  });
  const format = (inner: Fields): Mutation =>
    set({ output_config: { format: { type: "json_schema", schema: inner } } });

  const broken: readonly (readonly [string, Mutation, RegExp, string?])[] = [
    ["a call without its result", ({ body }) => void body.messages.pop(), /before the results/],
    ["a forced tool", set({ tool_choice: { type: "tool", name: "look" } }), /"tool" and "any" are not supported/],
    ["any tool", set({ tool_choice: { type: "any" } }), /"tool" and "any" are not supported/, "claude-opus-5-5"],
    [
      "a forced tool beside thinking",
      set({ thinking: { type: "enabled", budget_tokens: 2000 }, tool_choice: { type: "any" } }),
      /when tool_choice forces/,
      "claude-haiku-4-5",
    ],
    [
      "thinking off where it cannot be",
      set({ thinking: { type: "disabled" } }),
      /"thinking.type.disabled" is not supported.*"between_tools"/,
    ],
    ["the same of Opus", set({ thinking: { type: "disabled" } }), /"thinking.type.disabled"/, "claude-opus-5-5"],
    ["between_tools of Opus", set({ thinking: { type: "between_tools" } }), /between_tools/, "claude-opus-5-5"],
    [
      "between_tools at much effort",
      set({ thinking: { type: "between_tools" }, output_config: { effort: "max" } }),
      /between_tools" is not supported at effort max/,
    ],
    [
      "disabled at much effort",
      set({ thinking: { type: "disabled" }, output_config: { effort: "xhigh" } }),
      /disabled" is not supported at effort/,
      "claude-haiku-5-5",
    ],
    ["a budget", set({ thinking: { type: "enabled", budget_tokens: 2000 } }), /thinking.type.enabled/],
    ["a small budget", set({ thinking: { type: "enabled", budget_tokens: 100 } }), /budget_tokens/, "claude-haiku-4-5"],
    [
      "adaptive thinking of an older model",
      set({ thinking: { type: "adaptive" } }),
      /adaptive thinking is not supported on this model/,
      "claude-haiku-4-5",
    ],
    ["effort of an older model", set({ output_config: { effort: "low" } }), /effort/, "claude-haiku-4-5"],
    ["an unknown effort", set({ output_config: { effort: "minimal" } }), /minimal/],
    ["a temperature", set({ temperature: 0.2 }), /temperature/],
    ["top_p", set({ top_p: 0.9 }), /top_p/, "claude-haiku-5-5"],
    ["a prefill", also({ role: "assistant", content: "So" }), /prefill/],
    ["more output than the model has", set({ max_tokens: 200_000 }), /max_tokens/],
    [
      "block_binding without its header",
      set({ thinking: { type: "adaptive", block_binding: {} } }),
      /^block_binding: Extra inputs are not permitted/,
    ],
    [
      "block_binding of between_tools",
      all(name(betas.binding), set({ thinking: { type: "between_tools", block_binding: {} } })),
      /block_binding: Extra inputs/,
    ],
    ["an unknown beta", name("new-thing-2026-01-01"), /Unexpected value\(s\) `new-thing/],
    ["updates without their header", set({ thinking: { type: "adaptive", display: "updates" } }), /display/],
    ["a system message of an older model", system("Be polite."), /role 'system' is not supported/, "claude-haiku-4-5"],
    [
      "a system message first",
      ({ body }) => void body.messages.unshift({ role: "system", content: "x" }),
      /must follow a user turn/,
    ],
    ["one before a user turn", all(system("x"), (client) => client.say("y")), /must follow a user turn/],
    [
      "one between a call and its result",
      ({ body }) => void body.messages.splice(-1, 0, { role: "system", content: "x" }),
      /before the results/,
    ],
    ["clear_at without its header", system("x", { clear_at: "next_user_message" }), /clear_at: Extra inputs/],
    [
      "effort of a message without its header",
      system([], { output_config: { effort: "low" } }),
      /output_config: Extra inputs/,
    ],
    ["a tool change without its header", system(removal), /tool_removal: Extra inputs/],
    [
      "a definition with the other header",
      all(name(betas.toolChanges), system(addition({ type: "tool_definition", definition: toolOf("messages", "x") }))),
      /inline-tools/,
    ],
    [
      "an addition of an unknown tool",
      all(name(betas.toolChanges), system(addition({ type: "tool_reference", name: "x" }))),
      /no tool x/,
    ],
    ["a tool withdrawn twice", all(name(betas.toolChanges), system([...removal, ...removal])), /is not offered/],
    ["an empty system message", system(""), /blank text/],
    ["all tools deferred", inTool({ defer_loading: true }), /every tool is deferred/],
    [
      "a deferred tool with a cache mark",
      all(deferred, ({ body }) => void Object.assign(body.tools[1] ?? {}, { cache_control: { type: "ephemeral" } })),
      /has a cache mark/,
    ],
    [
      "a reference to no tool",
      (client) =>
        void Object.assign(contentOf(client, 6)[0] ?? {}, { content: [{ type: "tool_reference", tool_name: "x" }] }),
      /no tool x/,
    ],
    [
      "five cache marks",
      all(set({ cache_control: { type: "ephemeral" } }), (client) => {
        for (const index of [1, 2])
          for (const block of contentOf(client, index).slice(-2)) block.cache_control = { type: "ephemeral" };
      }),
      /maximum of 4 blocks.*Found 5/,
    ],
    [
      "a long lifetime behind a short one",
      all(
        set({
          system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
          cache_control: { type: "ephemeral", ttl: "1h" },
        }),
      ),
      /ttl='1h'/,
    ],
    ["a picture of 9,000 pixels", pictures(1, 9000), /image_dimensions_too_large: 9000 x 10.*8000/],
    ["21 pictures of 3,000 pixels", pictures(21, 3000), /many-image requests: 2000/],
    ["101 pictures of an older model", pictures(101, 10), /101 pictures, at most 100/, "claude-haiku-4-5"],
    [
      "a picture that is none",
      ({ body }) =>
        void body.messages.push({
          role: "user",
          content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } }],
        }),
      /Could not process image/,
    ],
    [
      "21 strict tools",
      ({ body }) =>
        void body.tools.push(...Array.from({ length: 21 }, (_, index) => strictTool({ name: `s${index}` }))),
      /21 strict tools/,
    ],
    [
      "25 optional parameters",
      ({ body }) =>
        void body.tools.push(
          strictTool({
            input_schema: schema(Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`p${index}`, {}]))),
          }),
        ),
      /25 optional parameters/,
    ],
    [
      "17 unions",
      ({ body }) =>
        void body.tools.push(
          strictTool({
            input_schema: schema(
              Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`p${index}`, { anyOf: [{}] }])),
              Array.from({ length: 17 }, (_, index) => `p${index}`),
            ),
          }),
        ),
      /17 unions/,
    ],
    [
      "an answer whose objects are open",
      format({ type: "object", properties: {} }),
      /additionalProperties must be false/,
    ],
    [
      "one with an open object inside",
      format(schema({ a: { type: "array", items: { type: "object", properties: {} } } })),
      /additionalProperties must be false/,
    ],
    ["the field that is deprecated", set({ output_format: {} }), /unknown field output_format/],
    ["compaction without its header", set({ compaction: { type: "summarize" } }), /compaction: Extra inputs/],
    [
      "context editing without its header",
      set({ context_management: { edits: [{ type: "clear_tool_uses_20250919" }] } }),
      /context_management: Extra inputs/,
    ],
    ["two tools of one name", more(toolOf("messages", "look")), /must be unique/],
  ];
  for (const [title, mutate, words, model] of broken)
    test(`${title}`, () => {
      const client = talked(model);
      mutate(client);
      expect(client.judge().problems.join("\n")).toMatch(words);
    });

  test("all betas at a gateway that takes none", () => {
    const client = talked();
    client.service.account.takesBetas = false;
    expect(client.judge().problems).toEqual([]);
    name(betas.binding)(client);
    expect(client.judge().problems.join("\n")).toMatch(/anthropic-beta/);
  });

  test("no settings that it takes", () => {
    const good: readonly (readonly [Mutation, string?])[] = [
      [set({ thinking: { type: "between_tools" }, output_config: { effort: "high" } })],
      [set({ thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "max" } })],
      [set({ thinking: { type: "disabled" }, tool_choice: { type: "any" } }), "claude-haiku-5-5"],
      [set({ thinking: { type: "enabled", budget_tokens: 1024 }, temperature: 1 }), "claude-haiku-4-5"],
      [set({ temperature: 0.2, tool_choice: { type: "tool", name: "look" } }), "claude-haiku-4-5-20251001"],
      [format(schema({ a: { type: "string" } }))],
      [pictures(20, 8000)],
      [pictures(21, 2000)],
      [all(name(betas.compact), set({ compaction: { type: "summarize" } }))],
      [also({ role: "assistant", content: "So" }), "claude-haiku-4-5"],
      [
        set({
          cache_control: { type: "ephemeral" },
          system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral", ttl: "1h" } }],
        }),
      ],
    ];
    for (const [mutate, model] of good) {
      const client = talked(model);
      mutate(client);
      expect(client.judge().problems).toEqual([]);
    }
  });
});
