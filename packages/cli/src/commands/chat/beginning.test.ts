import { fileURLToPath } from "node:url";
import {
  answerWith,
  hasTerminals,
  sharedCommand,
  sharedTerminal,
  sharedWireServer,
  streamOf,
  type TerminalProgram,
  workFolders,
} from "@toolcrib/testing";
import { describe, expect, test } from "vitest";

const bin = fileURLToPath(new URL("../../../dist/bin.js", import.meta.url));
const work = workFolders("beginning");
const wire = await sharedWireServer();
const onTerminal = sharedTerminal(bin);
const command = sharedCommand(bin);
const model = ["-m", "openai-compatible/m", "--base-url", `${wire.url}/v1`];

function start(args: readonly string[]): TerminalProgram {
  return onTerminal(args, { cwd: work.folder, env: { XDG_STATE_HOME: work.state } });
}

async function leave(program: TerminalProgram): Promise<void> {
  program.type("/quit\r");
  expect(await program.ended).toBe(0);
}

const lastMessage = (): unknown =>
  ((wire.requests.at(-1)?.body.messages ?? []) as { content: unknown }[]).at(-1)?.content;

describe.skipIf(!hasTerminals())("a conversation begins", () => {
  test("with the flags of one and without the word chat", async () => {
    wire.script(answerWith({ text: "Here." }));
    const program = start(["--mode", "plan", ...model]);
    await program.shows(/m · plan .*\n>$/);
    program.type("hi\r");
    await program.shows(/Here\.\n[\s\S]*\n>$/);
    await leave(program);
    for (const flags of [["-c"], ["-r", "1"]]) {
      const again = start([...flags, ...model]);
      await again.shows(/> hi\n\nHere\.\n\n.*\n>$/);
      await leave(again);
    }
  });

  test("with a message of several words, which is no command whatever it begins with", async () => {
    wire.script(answerWith({ text: "One." }), answerWith({ text: "Two." }));
    const program = start(["say one", ...model]);
    await program.shows(/\n> say one\n\nOne\.\n\n.*\n>$/);
    await leave(program);
    const again = start(["-c", ...model, "!say two"]);
    await again.shows(/\n> !say two\n\nTwo\.\n\n.*\n>$/);
    expect(lastMessage()).toBe("!say two");
    await leave(again);
  });

  test("never with the flag of a run, also where its value has several words", async () => {
    wire.script(answerWith({ text: "One." }));
    const program = start(["--prompt=say one", ...model]);
    expect(await program.ended).toBe(0);
    expect(program.screen.text).toContain("One.");
  });

  test("with a question that has no answer, which is shown as one", async () => {
    wire.script(answerWith({ text: "One." }), streamOf([], { end: "hang" }));
    const program = start(["say one", ...model]);
    await program.shows(/One\.\n\n.*\n>$/);
    program.type("and two\r");
    await program.shows(/waiting for the model/);
    program.type("\u001b");
    await program.shows(/Interrupted\./);
    await leave(program);
    const again = start(["-c", ...model]);
    await again.shows(/> and two\n\n\(no answer yet\)\n\n.*\n>$/);
    await leave(again);
  });
});

test("a sentence without a terminal is the prompt of a run, and a word is none", async () => {
  const options = { cwd: work.folder, env: { XDG_STATE_HOME: work.state } };
  wire.script(answerWith({ text: "Done." }));
  expect(await command(["say it", ...model], options)).toMatchObject({ code: 0, stdout: "Done.\n" });
  for (const args of [["say"], [...model, "run", "say it"]])
    expect(await command(args, options)).toMatchObject({ code: 2, stdout: "" });
});

test("a conversation without an input ends at once, each time", async () => {
  const options = { cwd: work.folder, env: { XDG_STATE_HOME: work.state } };
  for (let time = 1; time <= 3; time += 1)
    expect(await command(["chat", ...model], options)).toMatchObject({ code: 0 });
});
