// `-r FILE`: somebody else may have written the conversation, and what it says was answered.
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answerWith, type ProgramEnd, sharedWireServer } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { call, homeFor, modelAt } from "../../fixtures/command.ts";

const wire = await sharedWireServer();
const home = homeFor("given-session");
const toolcrib = (args: readonly string[], input?: string): Promise<ProgramEnd> =>
  home.toolcrib([...args, ...modelAt(wire)], input === undefined ? {} : { input });

/** Has a question about a call left open. Returns the journal, and the id of the call. */
async function openQuestion(): Promise<{ journal: string; callId: string }> {
  wire.script(call("write_file", { path: "a.txt", content: "x" }));
  expect((await toolcrib(["run", "go"])).code).toBe(4);
  const sessions = join(home.base, "state/toolcrib/sessions");
  const own = join(sessions, readdirSync(sessions)[0] ?? "");
  const journal = join(own, readdirSync(own).find((file) => file.endsWith(".jsonl")) ?? "");
  const callId = /"pending":\{"callId":"([^"]+)"/.exec(readFileSync(journal, "utf8"))?.[1] ?? "";
  return { journal, callId };
}

const answered = (callId: string, answer: unknown): string =>
  `${JSON.stringify({ type: "answers", answers: { [callId]: answer }, at: new Date().toISOString() })}\n`;

test.each([
  ["yes", true],
  ["with other arguments", { args: { path: "b.txt", content: "y" } }],
])("a question that a file says was answered, %s, runs nothing, and the next message is a no", async (_how, answer) => {
  const { journal, callId } = await openQuestion();
  copyFileSync(journal, home.at("theirs.jsonl"));
  writeFileSync(home.at("theirs.jsonl"), answered(callId, answer), { flag: "a" });
  wire.script(answerWith({ text: "Done." }));
  const { stderr } = await toolcrib(["chat", "-r", "theirs.jsonl"], "/answer\nhello\n/answer\n");
  expect(stderr).toContain("theirs.jsonl may come from somebody else, so its waiting calls are not asked about");
  expect(stderr.match(/No question waits\./g)).toHaveLength(2);
  expect(wire.requests.at(-1)?.text).toContain("the user sent a message instead of an answer");
  expect(["a.txt", "b.txt"].filter((name) => existsSync(home.at(name)))).toEqual([]);
});

test("in a conversation of the user's own an answer before a crash holds, by its path as well", async () => {
  const { journal, callId } = await openQuestion();
  writeFileSync(journal, answered(callId, true), { flag: "a" });
  wire.script(answerWith({ text: "Done." }));
  await toolcrib(["chat", "-r", journal], "");
  expect(existsSync(home.at("a.txt"))).toBe(true);
});
