import type { ChatTool } from "@toolcrib/core";
import { describe, expect, test } from "vitest";
import { service } from "../../testing/replies.ts";
import type { ProviderEvent, ReplyEvent } from "../provider.ts";
import { ChatReply, chatChunks } from "../providers/chat/reply.ts";
import { ContentReader } from "./contentReader.ts";
import { endCalls, OfferedTools } from "./endCalls.ts";
import written from "./fixtures/writtenCalls.json" with { type: "json" };
import { unreadCall } from "./unreadCall.ts";

const type = (name: string): object => ({ type: name });
const properties = { path: type("string"), depth: type("integer"), deep: type("boolean"), tags: type("array") };
const tool = (name: string, parameters: object): ChatTool => ({
  type: "function",
  function: { name, description: name, parameters: { type: "object", ...parameters } },
});
const tools = [tool("look", { properties }), tool("note", {})];

interface Read {
  readonly said: string;
  readonly thought: string;
  readonly calls: readonly { readonly name: string; readonly args: object; readonly malformed?: string }[];
}

/** Reads the deltas of a reply; the text that is shown is that of the message. */
function read(deltas: readonly object[], finish = "stop", offered = tools): Read & { reply: ReplyEvent } {
  const reading = new ChatReply(service, "test/m", [], new ContentReader(new OfferedTools(offered)));
  const shown = { "text-delta": "", "reasoning-delta": "" };
  const note = (events: readonly ProviderEvent[]): void => {
    for (const event of events) if ("text" in event) shown[event.type] += event.text;
  };
  for (const delta of [...deltas, {}])
    note(reading.push({ choices: [{ delta, finish_reason: delta === deltas.at(-1) ? finish : null }] } as never));
  note(reading.flush());
  const reply = reading.end();
  const { content } = reply.message;
  const textOf = (kind: "text" | "reasoning"): string =>
    content.flatMap((block) => (block.type === kind ? [block.text] : [])).join("\n\n");
  const said = textOf("text");
  const thought = textOf("reasoning");
  expect([shown["text-delta"], shown["reasoning-delta"]]).toEqual([said, thought]);
  const calls = content.flatMap((block) => {
    if (block.type !== "tool-call") return [];
    const { name, args, malformed } = block;
    return [{ name, args, ...(malformed && { malformed }) }];
  });
  return { said, thought, calls, reply };
}

/** The same, not streamed, in two pieces cut at each place, and character by character. */
function readEachWay(text: string, finish = "stop"): Read {
  const whole = { choices: [{ message: { role: "assistant", content: text }, finish_reason: finish }] };
  const [chunk] = chatChunks(whole as never);
  const { reply, ...expected } = read([chunk?.choices[0]?.delta ?? {}], finish);
  for (let at = 1; at < text.length; at += 1) {
    const { reply: cut, ...same } = read([{ content: text.slice(0, at) }, { content: text.slice(at) }], finish);
    expect(same, `cut at ${at}`).toEqual(expected);
  }
  expect(
    read(
      [...text].map((content) => ({ content })),
      finish,
    ).reply,
  ).toEqual(reply);
  return expected;
}

test.each(written)(
  "$model: calls as its template prints them are calls",
  ({ text, calls, said = "", thought = "" }) => {
    expect(readEachWay(text)).toEqual({ said, thought, calls });
  },
);

const quoted = '<tool_call>{"name": "look", "arguments": {"path": "lib"}}</tool_call>';
const python = '[look(path="lib")]';

describe("no call", () => {
  test.each([
    ["in the middle of an answer", `The page says ${quoted} and no more.`],
    ["in the middle, on a line of its own", `The page says:\n${quoted}\nThat is all.`],
    ["in a code block", `So:\n\n\`\`\`xml\n${quoted}\n\`\`\``],
    ["in a code block that is not closed", `So:\n\n~~~\n${quoted}`],
    ["in a code block within another", `So:\n\n\`\`\`\`md\n\`\`\`\n${quoted}`],
    ["in an indented block", `So:\n\n    ${quoted}`],
    ["in code within a line", `It writes \`${quoted}\``],
    ["in code within a line that is not closed", `It writes \`${quoted}`],
    ["in a quote", `The page says:\n> ${quoted}`],
    ["in quotation marks", `The page says "${quoted}"`],
    ["of a tool that is not offered", '<tool_call>{"name": "remove", "arguments": {}}</tool_call>'],
    [
      "beside one of a tool that is not offered",
      `${quoted}\n<tool_call>{"name": "remove", "arguments": {}}</tool_call>`,
    ],
    ["cut off", '<tool_call>{"name": "look", "arguments": {"path": "li'],
    ["cut off behind the arguments", "<tool_call><function=look><parameter=path>lib</parameter>"],
    ["within the text of one that is cut off", `<function=note>\n<parameter=text>\nSo:\n${quoted}\n`],
    ["within the text of one that cannot be read", `[note(text="So:\n${quoted}`],
    ["a description of a tool", '{"name": "look", "description": "Looks.", "parameters": {"type": "object"}}'],
    ["data", '{"name": "look"}'],
    ["a bare form behind other text", `So: ${python}`],
    ["a link", "[look](https://example.com) and [note(1)](https://example.com)"],
    ["arguments without names", '[look("lib")]'],
    ["a call within a call", "[look(path=note())]"],
    ["a list of data", '<|python_tag|>[["look", {}]]'],
    ["the mention of a tag", "Models write <tool_call> and </think>-free text.\n"],
    ["the beginning of a token", "1 <tool"],
    ["white space", "Yes.\n\n"],
  ])("%s", (_, text) => {
    const seen = readEachWay(text);
    expect(seen.calls).toEqual([]);
  });

  test("what is no call comes as the text that it was", () => {
    for (const text of [`A ${quoted} b\n`, "1 <tool", "<tool_call>{", "{", "[look", '{"name": "Ann"}\n', "Yes.\n\n"])
      expect(readEachWay(text)).toEqual({ said: text, thought: "", calls: [] });
  });

  test("in thinking, beside calls of the service, and after a refusal", () => {
    expect(readEachWay(`<think>${quoted}</think>Yes.`)).toEqual({ said: "Yes.", thought: quoted, calls: [] });
    const sent = { tool_calls: [{ index: 0, id: "a", function: { name: "note", arguments: "{}" } }] };
    const { said, calls } = read([{ content: quoted }, sent], "tool_calls");
    expect({ said, calls }).toEqual({ said: quoted, calls: [{ name: "note", args: {} }] });
    expect(read([{ content: quoted }], "content_filter").calls).toEqual([]);
    expect(read([{ content: quoted }], "stop", []).said).toBe(quoted);
  });
});

test("a call behind a quoted one is read, and the quoted one stays text", () => {
  const { said, calls } = readEachWay(
    `The page says ${quoted}, so I note it.\n<tool_call>\n{"name": "note", "arguments": {}}`,
  );
  expect({ said, calls }).toEqual({
    said: `The page says ${quoted}, so I note it.`,
    calls: [{ name: "note", args: {} }],
  });
});

const lib = { name: "look", args: { path: "lib" } };
const inJson = '{"name": "look", "arguments": {"path": "lib"}}';
test.each([
  ["behind data", `{"name": "Ann"}\n\n${quoted}`, '{"name": "Ann"}'],
  ["behind a link", `[look(2)](https://example.com)\n${quoted}`, "[look(2)](https://example.com)"],
  ["behind closed code", `\`a\` and\n~~~\nb\n~~~\n${quoted}`, "`a` and\n~~~\nb\n~~~"],
  ["with no token, on a line of its own", `I look.\n${inJson}`, "I look."],
  ["in a list", `[${inJson}]`, ""],
  [
    "in a type of its own",
    '{"type": "function", "function": {"name": "look", "arguments": "{\\"path\\": \\"lib\\"}"}}',
    "",
  ],
  ["in other tags", `<tools>${inJson}</tools>`, ""],
  ["with a namespace", quoted.replace("look", "functions.look"), ""],
  ["with no end but that of the reply", quoted.replace("</tool_call>", "<|im_end|>"), ""],
  ["with no end", quoted.replace("</tool_call>", "\n"), ""],
])("a call %s is read", (_, text, said) => expect(readEachWay(text)).toEqual({ said, thought: "", calls: [lib] }));

test("a call behind any number of links is read", () => {
  expect(read([{ content: `${"[look(2)](#)\n".repeat(60)}${quoted}` }]).calls).toEqual([lib]);
});

test("a call in one tag after another, and several in one", () => {
  const calls = [lib, lib];
  expect(readEachWay(`<tool_call>${inJson}\n${inJson}</tool_call>`)).toEqual({ said: "", thought: "", calls });
  expect(readEachWay(`<tool_call>${inJson}\n${quoted}`)).toEqual({ said: "", thought: "", calls });
  expect(readEachWay(`${quoted}<function=look>{"path": "lib"}</function>`)).toEqual({ said: "", thought: "", calls });
});

test.each([
  '<tool_call>{"name": "look", "arguments": {"path": }}</tool_call>',
  '<tool_call>{"name": "look", "arguments": {"path": "a}}</tool_call>',
  '<function=look>{"path": }</function>',
  '[TOOL_CALLS]look[ARGS]{"path": }',
  "<|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{'path': 1}<|tool_call_end|>",
])("a call whose arguments are no JSON is a call that tells the model so: %s", (text) => {
  const { said, calls } = readEachWay(text);
  expect({ said, calls }).toEqual({
    said: "",
    calls: [{ name: "look", args: {}, malformed: expect.stringContaining("expected a JSON object") }],
  });
});

describe("thinking", () => {
  test.each([
    ["at the beginning", "<think>\nHm.\n</think>\n\nYes.", "Hm.", "Yes."],
    ["with nothing in it", "<think>\n\n</think>\n\nYes.", "", "Yes."],
    ["in other tags", "[THINK]Hm.[/THINK]Yes.", "Hm.", "Yes."],
    ["twice", "<think>One.</think>\n<think>Two.</think>\nYes.", "One.\n\nTwo.", "Yes."],
    ["that is not closed", "<think>Hm.\n", "Hm.", ""],
    ["whose end alone came", "</think>\n\nYes.", "", "Yes."],
    [
      "in code",
      "Write `<think>` and\n```\n<think>\n</think>\n```\n",
      "",
      "Write `<think>` and\n```\n<think>\n</think>\n```\n",
    ],
    ["mentioned", "The tag <think> begins it.", "", "The tag <think> begins it."],
  ])("%s", (_, text, thought, said) => expect(readEachWay(text)).toEqual({ thought, said, calls: [] }));

  test("whose beginning stands in the prompt is told from the answer in history", () => {
    const reading = new ChatReply(service, "test/m", [], new ContentReader(new OfferedTools(tools)));
    reading.push({ choices: [{ delta: { content: "Hm.\n</think>\n\nYes." }, finish_reason: "stop" }] } as never);
    reading.flush();
    expect(reading.end().message.content).toMatchObject([
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "Yes." },
    ]);
  });
});

describe("a call that does not run is told", () => {
  const message = (text: string, thought = "") => ({
    role: "assistant" as const,
    content: [
      ...(thought === "" ? [] : [{ type: "reasoning" as const, text: thought }]),
      { type: "text" as const, text },
    ],
  });
  test.each([
    ["not-enabled", "look", message(`So:\n${quoted}`)],
    ["not-offered", "remove", message('{"name": "remove", "parameters": {}}')],
    ["not-whole", "look", message('<tool_call>\n{"name": "look", "arguments": {"path": "li')],
    ["not-whole", "", message("[TOOL_CALLS] [")],
    ["not-whole", "look", message('[look("lib")]')],
    ["not-whole", "look", message('{"name": "look", "parameters": {"path": ')],
    ["in-line", "look", message('So: [look(path="lib")]')],
    ["in-line", "look", message('So: {"name": "look", "parameters": {}}')],
    ["in-code", "look", message('```json\n{"name": "look", "arguments": {}}\n```')],
    ["in-thinking", "look", message("", `Hm. ${quoted}`)],
  ] as const)("%s", (problem, name, reply) => {
    expect(unreadCall(reply, tools)).toMatchObject({
      problem,
      name,
      message: expect.stringMatching(/^The reply ends in a call/),
    });
  });

  test.each([
    "Yes.",
    `It is ${quoted}.`,
    `So:\n\`\`\`\n${quoted}\n\`\`\`\n`,
    "Use <tool_call>.",
    '{"name": "Ann"}',
    '[{"name": "Ann"}, {"name": "Bea"}]',
  ])("and nothing else is: %j", (text) => expect(unreadCall(message(text, quoted), tools)).toBeUndefined());
});

test("a block of code that begins a reply and is not closed holds no call", () => {
  const offered = new OfferedTools(tools);
  expect(endCalls(quoted, offered)).toMatchObject({ calls: [{ name: "look" }] });
  expect(endCalls(`\`\`\`\n${quoted}`, offered)).toBeUndefined();
});

test("long replies are read in time that grows with them", () => {
  const many = 20_000;
  const texts = [
    "<tool_call>".repeat(many),
    quoted.repeat(many / 10),
    `<tool_call>{"name": "note", "arguments": {"text": "${'\\"'.repeat(many)}`,
    `<function=note>${"<parameter=text></parameter>".repeat(many / 5)}`,
    `<tool_call>note${"<arg_key>a</arg_key><arg_value>".repeat(many / 5)}`,
    `[note(text=${"[".repeat(many)}`,
    `[note(text="${"\\n".repeat(many)}`,
    "[note(".repeat(many),
    "<tool_call>{</tool_call>".repeat(many),
    '[TOOL_CALLS]x[ARGS]{"a'.repeat(many),
    '<tool_call>{"name":"x","arguments":{</tool_call>'.repeat(many),
    `<tool_call>{"name": "note", "arguments": {"text": "${"\\n".repeat(20 * many)}"}}</tool_call> `.repeat(2),
    `${" ".repeat(many)}<`,
    "`".repeat(many),
  ];
  for (const text of texts) {
    read([{ content: text }]);
    unreadCall({ role: "assistant", content: [{ type: "text", text }] }, tools);
  }
});
