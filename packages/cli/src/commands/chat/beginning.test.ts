import { answerWith, sharedWireServer, streamOf } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { homeFor, leave, modelAt, type OnTerminal } from "../../../fixtures/command.ts";

const work = homeFor("beginning");
const wire = await sharedWireServer();
const model = modelAt(wire);

function start(args: readonly string[]): OnTerminal {
  return work.onTerminal(args);
}

const lastMessage = (): unknown =>
  ((wire.requests.at(-1)?.body.messages ?? []) as { content: unknown }[]).at(-1)?.content;

describe("a conversation begins", () => {
  test("with the flags of one and without the word chat", async () => {
    wire.script(answerWith({ text: "Here." }));
    const program = start(["--mode", "plan", ...model]);
    await program.shows(/m · plan .*\n>$/);
    await program.enter("hi\r", /Here\.\n[\s\S]*\n>$/);
    expect(await leave(program)).toBe(0);
    for (const flags of [["-c"], ["-r", "1"]]) {
      const again = start([...flags, ...model]);
      await again.shows(/> hi\n\nHere\.\n\n.*\n>$/);
      expect(await leave(again)).toBe(0);
    }
  });

  test("with a message of several words, which is no command whatever it begins with", async () => {
    wire.script(answerWith({ text: "One." }), answerWith({ text: "Two." }));
    const program = start(["say one", ...model]);
    await program.shows(/\n> say one\n\nOne\.\n\n.*\n>$/);
    expect(await leave(program)).toBe(0);
    const again = start(["-c", ...model, "!say two"]);
    await again.shows(/\n> !say two\n\nTwo\.\n\n.*\n>$/);
    expect(lastMessage()).toBe("!say two");
    expect(await leave(again)).toBe(0);
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
    await program.enter("and two\r", /waiting for the model/);
    await program.enter("\u001b", /Interrupted\./);
    expect(await leave(program)).toBe(0);
    const again = start(["-c", ...model]);
    await again.shows(/> and two\n\n\(no answer yet\)\n\n.*\n>$/);
    expect(await leave(again)).toBe(0);
  });
});

test("a sentence without a terminal is the prompt of a run, and a word is none", async () => {
  wire.script(answerWith({ text: "Done." }));
  expect(await work.toolcrib(["say it", ...model])).toMatchObject({ code: 0, stdout: "Done.\n" });
  for (const args of [["say"], [...model, "run", "say it"]])
    expect(await work.toolcrib(args)).toMatchObject({ code: 2, stdout: "" });
});

test("a conversation without an input ends at once, each time", async () => {
  for (let time = 1; time <= 3; time += 1) expect(await work.toolcrib(["chat", ...model])).toMatchObject({ code: 0 });
});
