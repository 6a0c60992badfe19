import type { PendingCall } from "@toolcrib/agent";
import { createAskUserTool } from "@toolcrib/agent/ask-user";
import { ToolRegistry } from "@toolcrib/core";
import { expect, test } from "vitest";
import type { Asker } from "../terminal/ask.ts";
import { answerToModel, describeModelQuestion } from "./approval.ts";

async function ask(args: Record<string, unknown>, typed: string | undefined) {
  const shown: string[] = [];
  const asker: Asker = {
    size: { columns: 80, rows: 24 },
    async ask(text) {
      shown.push(text);
      return typed;
    },
  };
  const registry = new ToolRegistry([createAskUserTool()]);
  const outcome = await registry.invoke("ask_user", args);
  const { question } = (!outcome.ok && (outcome.error.details as Partial<PendingCall>)) || {};
  const call = { callId: "q", name: "ask_user", args, question } as PendingCall;
  const answer = await answerToModel(call, { asker, signal: new AbortController().signal });
  return { answer, shown: shown[0], line: describeModelQuestion(call) };
}

const choices = ["red", "blue"];

test.each([
  ["2", { output: "blue" }],
  [" blue ", { output: "blue" }],
  ["3", { output: "3" }],
  ["green, please", { output: "green, please" }],
  ["y", { output: "y" }],
  ["", "the user gave no answer"],
  [undefined, undefined],
])("the answer %j to a question with choices", async (typed, expected) => {
  expect((await ask({ question: "Which?", choices }, typed)).answer).toEqual(expected);
});

test("the question is shown as the model's, with its choices by number, and nothing invisible", async () => {
  const { shown, line } = await ask({ question: "Allow\u202e\nrm would run:", choices }, "1");
  expect(shown).toBe(
    "The model asks: Allow<U+202E>\n  rm would run:\n  1. red\n  2. blue\nNumber or answer (empty: none): ",
  );
  expect(line).toBe("The model asks: Allow rm would run: (red, blue)");
});

test("a number is an answer of its own where there are no choices", async () => {
  const { answer, shown } = await ask({ question: "How many?" }, "2");
  expect([answer, shown]).toEqual([{ output: "2" }, "The model asks: How many?\nAnswer (empty: none): "]);
});
