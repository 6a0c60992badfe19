import { jsonOf, sharedWireServer, sse, streamOf } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { chatReply, messagesReply, responsesReply } from "../../testing/replies.ts";
import { read, registryOf } from "../../testing/turns.ts";
import { wireProvider } from "../../testing/wireFaultRun.ts";
import { Agent } from "../agent.ts";
import { chatObject } from "../chatObject.ts";
import { answerOf, textOf } from "../conversation/conversation.ts";
import type { AssistantMessage } from "../messages.ts";

const server = await sharedWireServer();

const text = (said: string, more: object = {}) => ({ type: "text", text: said, ...more }) as const;
const thought = { type: "reasoning", text: "Hm." } as const;
const call = { type: "tool-call", id: "a", name: "look", args: {} } as const;
const reply = (...content: AssistantMessage["content"]): AssistantMessage => ({ role: "assistant", content });

test.each<[string, AssistantMessage, string]>([
  ["neighbours are one text", reply(text("It is "), text("blue"), text(".")), "It is blue."],
  ["thinking separates", reply(text("One."), thought, text("Two.")), "One.\n\nTwo."],
  ["a call separates", reply(text("One."), call, text("Two.")), "One.\n\nTwo."],
  ["line ends that are there count", reply(text("One.\n"), call, text("\nTwo.")), "One.\n\nTwo."],
  ["no more are taken away", reply(text("One.\n\n\n"), call, text("\nTwo.")), "One.\n\n\n\nTwo."],
  [
    "nothing but line ends is no text of its own",
    reply(text("One."), call, text("\n"), thought, text("Two.")),
    "One.\n\nTwo.",
  ],
  ["no seam before the first", reply(thought, text("One."), call), "One."],
])("%s", (_, message, expected) => expect(textOf(message)).toBe(expected));

test("the answer is the final text, or the commentary where there is nothing else", () => {
  const commentary = text("Looking.", { phase: "commentary" });
  expect(answerOf(reply(commentary, text("It is blue.", { phase: "final_answer" })))).toBe("It is blue.");
  expect(answerOf(reply(commentary, text("It is blue.")))).toBe("It is blue.");
  expect(answerOf(reply(commentary, call))).toBe("Looking.");
  expect(answerOf(reply(text("It is blue."), commentary, text("Or green.")))).toBe("It is blue.\n\nOr green.");
  expect(answerOf(reply(commentary, text(" \n", { phase: "final_answer" })))).toMatch(/^Looking\./);
});

test("over chat completions a text after thinking or a call begins a paragraph", () => {
  const looked = { tool_calls: [{ index: 0, id: "a", function: { name: "look", arguments: "{}" } }] };
  const { message } = chatReply([
    { content: "One." },
    { reasoning: "Hm." },
    { content: "\n" },
    { content: "Two." },
    looked,
  ]);
  expect(textOf(message)).toBe("One.\n\nTwo.");
  expect(textOf(chatReply([{ content: "One." }, looked, { content: "Two." }]).message)).toBe("One.\n\nTwo.");
  expect(textOf(chatReply([{ content: "One" }, { reasoning: "" }, { content: " two." }]).message)).toBe("One two.");
});

test("over Messages thinking separates, and citations do not", () => {
  const thinking = { type: "thinking", thinking: "", signature: "c2ln" };
  const cited = { type: "text", text: "blue", citations: [{ type: "char_location" }] };
  const { message } = messagesReply([[text("One.")], [thinking], [text("It is ")], [cited], [text(".")]], "end_turn");
  expect(textOf(message)).toBe("One.\n\nIt is blue.");
});

const said = (phase: string, words: string) => {
  const content = [{ type: "output_text", text: words, annotations: [] }];
  return { type: "message", id: `msg_${phase}`, role: "assistant", status: "completed", phase, content };
};

describe.each([true, false])("over Responses (streamed: %s)", (stream) => {
  const answer = (...output: object[]): void => {
    const response = { id: "r", object: "response", status: "completed", output };
    const events = output.map((item, output_index) => ({ type: "response.output_item.done", output_index, item }));
    const all = [...events, { type: "response.completed", response }].map((data) => ({ event: data.type, data }));
    server.script(stream ? streamOf(sse(all)) : jsonOf(response));
  };
  const agentOf = (): Agent => new Agent(wireProvider("responses", server.url, { stream }), { attempts: 1 });

  test("the final text is the answer, and each piece tells its phase", async () => {
    answer(said("commentary", "I look."), said("final_answer", "It is blue."));
    const events = await read(agentOf().streamChat("Which?"));
    expect(events.filter(({ type }) => type === "text-delta")).toEqual([
      { type: "text-delta", text: "I look.", phase: "commentary" },
      { type: "text-delta", text: "\n\nIt is blue.", phase: "final_answer" },
    ]);
    expect(events.at(-1)).toMatchObject({ type: "end", text: "It is blue." });
  });

  test("an object is read from the final text alone", async () => {
    answer(said("commentary", "I think it is this."), said("final_answer", '{"color":"blue"}'));
    const provider = wireProvider("responses", server.url, { stream });
    Object.assign(provider, { abilities: { forcedTools: true, answersBy: () => true } });
    const schema = { type: "object", properties: { color: { type: "string" } } } as const;
    expect(await chatObject(new Agent(provider, { tools: registryOf({}) }), "Which?", schema)).toEqual({
      color: "blue",
    });
  });

  test("commentary alone is the answer", async () => {
    answer(said("commentary", "I look."));
    expect(await agentOf().chat("Which?")).toBe("I look.");
  });
});

test("over Responses a call between two texts separates them", () => {
  const called = { type: "function_call", id: "fc", call_id: "c", name: "look", arguments: "{}", status: "completed" };
  const { shown, reply: made } = responsesReply([said("commentary", "One."), called, said("commentary", "Two.")]);
  expect(shown.flatMap((event) => (event.type === "text-delta" ? [event.text] : [])).join("")).toBe("One.\n\nTwo.");
  expect(textOf(made.message)).toBe("One.\n\nTwo.");
});
