import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Message, PendingCall } from "@toolcrib/agent";
import { assertConversation } from "@toolcrib/agent/testing";
import { expect } from "vitest";

const child = fileURLToPath(new URL("waitingChild.ts", import.meta.url));

type Said = readonly [string, ...unknown[]];

/** One life, which may end by its own SIGKILL: what it said. */
async function live(journal: string, effects: string, moment: number): Promise<readonly Said[]> {
  const args = [child, journal, effects, String(moment)];
  const life = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let stdout = "";
  life.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
  });
  const [code, signal] = await once(life, "close");
  expect(code === 0 || signal === "SIGKILL").toBe(true);
  return saidIn(stdout);
}

function saidIn(stdout: string): readonly Said[] {
  const lines = stdout.split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Said);
}

/** Two lives that resume one journal and answer at the same moment: what each said, and the calls that ran. */
export async function answerTogether(): Promise<{ said: readonly (readonly Said[])[]; ran: readonly string[] }> {
  return inFolder(async (journal, effects) => {
    // Ends itself when the question is shown.
    await live(journal, effects, 18);
    const args = [child, journal, effects, "0", "together"];
    const children = [0, 1].map(() => spawn(process.execPath, args, { stdio: "pipe" }));
    const outputs = children.map(() => "");
    const ready = children.map(
      ({ stdout }, index) =>
        new Promise<void>((resolve) => {
          stdout.setEncoding("utf8").on("data", (chunk: string) => {
            outputs[index] += chunk;
            resolve();
          });
        }),
    );
    const ended = children.map((one) => once(one, "close"));
    await Promise.race([Promise.all(ready), Promise.all(ended)]);
    for (const { stdin } of children) stdin.write("go\n");
    await Promise.all(ended);
    const said = outputs.map((text) => saidIn(text));
    return { said, ran: linesOf(effects) };
  });
}

/** Counts the moments of a life that nobody ends. */
export async function countMoments(): Promise<number> {
  return inFolder(async (journal, effects) => Number((await live(journal, effects, 0)).at(-1)?.[2]));
}

/**
 * Lives that end at the given moments, and one more that ends by itself. No question that was shown and no answer that was
 * recorded is lost, no call runs twice, and none that was denied. Answers what each life said last.
 */
export async function checkLives(moments: readonly number[]): Promise<readonly string[]> {
  return inFolder(async (journal, effects) => {
    let shown: readonly PendingCall[] = [];
    const answered: Record<string, unknown> = {};
    const results = new Map<unknown, unknown>();
    const ends: string[] = [];
    for (const moment of [...moments, 0]) {
      const ranBefore = linesOf(effects);
      const said = await live(journal, effects, moment);
      const begins = said.find(([what]) => what === "begins");
      const [, pending = [], messages = []] = (begins ?? []) as [string?, PendingCall[]?, Message[]?];
      assertConversation(messages);
      const ran = linesOf(effects);
      expect(new Set(ran).size).toBe(ran.length);
      for (const call of begins ? shown : []) {
        const result = messages.find((one) => one.role === "tool" && one.callId === call.callId);
        const still = pending.find(({ callId }) => callId === call.callId);
        // It waits as it did, with what was recorded of an answer; or the answer was acted upon.
        const { answer, ...question } = still ?? {};
        const { answer: _, ...asked } = call;
        if (still) expect(question).toEqual(asked);
        else expect(result).toMatchObject({ output: expect.stringMatching(/did|may have run|not c$/) });
        if (still && call.callId in answered) expect(answer).toBe(answered[call.callId]);
        if (!(call.callId in answered) && answer === undefined) expect(ranBefore).not.toContain(call.callId);
      }
      for (const { callId, answer } of pending) if (answer !== undefined) answered[callId] = answer;
      for (const [what, ...about] of said) {
        if (what === "recorded") Object.assign(answered, about[0]);
        if (what === "result") results.set(about[0], about[1]);
        if (what === "end" && about[0] === "approval") shown = about[1] as PendingCall[];
        if (what === "end" && about[0] !== "approval") shown = [];
        if (what === "ends") checkEnd(about[0] as Message[], results);
      }
      ends.push(String(said.at(-1)?.[1]));
    }
    expect(linesOf(effects)).not.toContain("c");
    return ends;
  });
}

const linesOf = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];

function checkEnd(messages: readonly Message[], results: ReadonlyMap<unknown, unknown>): void {
  assertConversation(messages);
  for (const message of messages) {
    if (message.role !== "tool") continue;
    expect(message.output).not.toContain("waiting for approval");
    // What was told of a call is what the model reads, before and after a restart.
    if (results.has(message.callId)) expect(message.output).toBe(results.get(message.callId));
  }
}

async function inFolder<T>(use: (journal: string, effects: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "waiting-"));
  try {
    return await use(join(folder, "one.jsonl"), join(folder, "effects.txt"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
