import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MockLanguageModelV4 } from "ai/test";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ask } from "./ask.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ai-"));
  writeFileSync(join(root, "note.txt"), "heron\n");
});
afterEach(() => rmSync(root, { recursive: true }));

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model that makes one call after the other, then says `done`. */
function scripted(...calls: readonly [toolName: string, input: object][]): MockLanguageModelV4 {
  const left = [...calls];
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const call = left.shift();
      const finishReason = { unified: call ? ("tool-calls" as const) : ("stop" as const), raw: undefined };
      if (!call) return { content: [{ type: "text", text: "done" }], finishReason, usage, warnings: [] };
      const [toolName, input] = call;
      const toolCallId = `call-${left.length}`;
      const content = [{ type: "tool-call" as const, toolCallId, toolName, input: JSON.stringify(input) }];
      return { content, finishReason, usage, warnings: [] };
    },
  });
}

const changes: readonly [string, object][] = [
  ["read_file", { path: "note.txt" }],
  ["write_file", { path: "copy.txt", content: "heron\n" }],
];

test("reads run by themselves, a change runs after a yes", async () => {
  const questions: string[] = [];
  const model = scripted(...changes);
  const decide = async (question: string): Promise<boolean> => questions.push(question) > 0;
  expect(await ask(model, root, "Copy the note", decide)).toBe("done");
  expect(questions).toEqual([expect.stringContaining("write_file would write copy.txt")]);
  expect(readFileSync(join(root, "copy.txt"), "utf8")).toBe("heron\n");
  // What was read before the question is still known after it.
  const last = JSON.stringify(model.doGenerateCalls.at(-1)?.prompt);
  for (const [toolName] of changes) expect(last).toContain(`"toolName":"${toolName}"`);
});

test("without a yes nothing is changed, and nothing outside the folder is read", async () => {
  const model = scripted(...changes, ["read_file", { path: "/etc/passwd" }]);
  let questions = 0;
  const decide = async (): Promise<boolean> => ++questions === 0;
  expect(await ask(model, root, "Copy the note", decide)).toBe("done");
  expect(questions).toBe(1);
  expect(existsSync(join(root, "copy.txt"))).toBe(false);
  expect(JSON.stringify(model.doGenerateCalls.at(-1)?.prompt)).not.toContain("root:");
});
