import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  answerWith,
  hasTerminals,
  sharedWireServer,
  startOnTerminal,
  type TerminalProgram,
  workFolders,
} from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { bin, call, modelAt } from "../../fixtures/command.ts";

const work = workFolders("terminal");
const wire = await sharedWireServer();
const edit = { path: "one.txt", edits: [{ old_text: "old", new_text: "older" }] };
const asks = /edit_file would write one\.txt[\s\S]*then Enter:$/;

function toolcrib(...args: string[]): TerminalProgram {
  const model = args.length === 0 ? [] : modelAt(wire);
  return startOnTerminal(bin, [...args, ...model], { cwd: work.folder, env: { XDG_STATE_HOME: work.state } });
}

async function leave(program: TerminalProgram): Promise<void> {
  program.type("/quit\r");
  expect(await program.ended).toBe(0);
}

describe.skipIf(!hasTerminals())("on a terminal of the system", () => {
  beforeEach(() => {
    writeFileSync(join(work.folder, "one.txt"), "old\n");
    wire.script(call("edit_file", edit));
  });
  const content = (): string => readFileSync(join(work.folder, "one.txt"), "utf8");

  test("a question that is left by kill -9 is asked again by chat -c, and its call runs once", async () => {
    const killed = toolcrib("run", "edit");
    await killed.shows(asks);
    killed.kill();
    expect(await killed.ended).toBe(137);
    expect(content()).toBe("old\n");
    wire.script(answerWith({ text: "Done." }));
    const chat = toolcrib("chat", "-c");
    await chat.shows(asks);
    await chat.enter("y\r", /✓ edit_file[\s\S]*Done\.\n\n.*\n>$/);
    await leave(chat);
    expect(content()).toBe("older\n");
  });

  test("a question is no yes when the window is closed", async () => {
    const program = toolcrib("run", "edit");
    await program.shows(asks);
    program.hangUp();
    await program.ended;
    expect(content()).toBe("old\n");
  });

  test("keys typed before a question are no answer to it, and what is typed before the first prompt is a message", async () => {
    const program = toolcrib("chat");
    await program.enter("edit\ry\r", asks);
    wire.script(answerWith({ text: "Not done." }), answerWith({ text: "You said y." }));
    await program.enter("n\r", "You said y.");
    await leave(program);
    expect(content()).toBe("old\n");
  });

  test("toolcrib by itself is chat, which leaves the keys as the shell had them, also after one that was killed", async () => {
    const killed = toolcrib();
    await killed.shows(/\/help\s+lists commands[\s\S]*\n>$/);
    killed.kill();
    await killed.ended;
    const next = toolcrib();
    await next.shows(/\/help\s+lists commands[\s\S]*\n>$/);
    await leave(next);
    // The terminal's stack of keyboard modes: what is pushed, popped and set.
    const stack = [0];
    for (const [, how, flags] of `${killed.screen.raw}${next.screen.raw}`.matchAll(/\u001b\[([<=>])(\d*)u/g)) {
      if (how === ">") stack.push(Number(flags));
      else if (how === "=") stack[stack.length - 1] = Number(flags);
      else stack.pop();
    }
    expect(stack.length).toBeGreaterThan(0);
    expect(stack.at(-1)).toBe(0);
  });

  test("--plain reads whole lines that the terminal edits, and asks by keys", async () => {
    wire.script(answerWith({ text: "Done." }));
    const program = toolcrib("chat", "--plain");
    await program.shows(/\n>$/);
    await program.enter("edid\u007ft\r", asks);
    await program.enter("y\r", /Done\.\n>$/);
    await program.enter("\u0003", /\nCtrl-C again, or \/quit, leaves\.\n>$/);
    program.type("\u0003");
    expect(await program.ended).toBe(130);
    expect(content()).toBe("older\n");
  });
});
