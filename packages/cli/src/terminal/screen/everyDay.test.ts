import { existsSync, writeFileSync } from "node:fs";

import { answerWith, replyEvents, sharedWireServer, sse, streamOf } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { call, homeFor, leave, modelAt, type OnTerminal } from "../../../fixtures/command.ts";

const work = homeFor("everyday");
const wire = await sharedWireServer();

function start(flags: readonly string[], size: { columns?: number } = {}): OnTerminal {
  const args = ["chat", ...modelAt(wire), ...flags];
  return work.onTerminal(args, size);
}

async function chatting(flags: readonly string[] = [], size: { columns?: number } = {}): Promise<OnTerminal> {
  const program = start(flags, size);
  await program.shows(/lists\s+commands\.[\s\S]*\n>$/);
  return program;
}

const isWritten = (name: string): boolean => existsSync(work.at(name));

describe("the mode of a conversation", () => {
  test("is changed by Shift-Tab, shown in the status row, and kept by /clear", async () => {
    const program = await chatting();
    await program.shows(/\nopenai-compatible\/m · ask .*\n>$/);
    for (const mode of ["accept-edits", "plan", "ask", "accept-edits"]) {
      await program.enter("\u001b[Z", new RegExp(`\\nopenai-compatible/m · ${mode} .*\\n>$`));
    }
    await program.enter("/clear\r", /A new conversation begins[\s\S]*\nopenai-compatible\/m · accept-edits .*\n>$/);
    await program.enter("/mode full\r", /full: everything runs[\s\S]*m · full .*\n>$/);
    await program.enter("\u001b[Z", /\nopenai-compatible\/m · ask .*\n>$/);
    await program.enter("/mode nothing\r", /There is no mode nothing; the modes are ask, plan/);
    expect(await leave(program)).toBe(0);
  });

  test("is the configured one where a conversation goes on", async () => {
    wire.script(answerWith({ text: "Here." }));
    const program = await chatting(["--mode", "plan"]);
    await program.enter("hi\r", /Here\.\n[\s\S]*\n>$/);
    expect(await leave(program)).toBe(0);
    writeFileSync(work.at(".toolcrib.json"), '{ "mode": "accept-edits" }');
    expect((await work.toolcrib(["config", "trust"])).code).toBe(0);
    const again = start(["-c"]);
    await again.shows(/> hi\n\nHere\.\n\n.*m · accept-edits .*\n>$/);
    expect(await leave(again)).toBe(0);
  });

  test("plan changes nothing and tells the model so; one key, and it goes on", async () => {
    const write = call("write_file", { path: "a.txt", content: "x\n" });
    wire.script(write, answerWith({ text: "I would write a.txt." }), write, answerWith({ text: "Done." }));
    const program = await chatting(["--mode", "plan"]);
    program.type("write a.txt\r");
    await program.shows(/I would write a\.txt\.\n\nShift-Tab or \/mode ask lets it do what it has proposed\./);
    expect(isWritten("a.txt")).toBe(false);
    expect(wire.requests[0]?.text).toContain("The user is planning");
    expect(wire.requests[1]?.text).toContain("write_file would write a.txt; the mode plan changes nothing");
    await program.enter("\u001b[Z", /m · ask .*\n>$/);
    await program.enter("\u001b[Z", /m · accept-edits .*\n>$/);
    await program.enter("go on\r", /Done\.\n\n.*\n>$/);
    expect(isWritten("a.txt")).toBe(true);
    expect(await leave(program)).toBe(0);
  });

  test("a question offers all edits of this session, which then run unasked", async () => {
    wire.script(
      answerWith({
        calls: ["a.txt", "b.txt"].map((path) => ({
          name: "write_file",
          args: JSON.stringify({ path, content: "x\n" }),
        })),
      }),
      answerWith({ text: "Both." }),
    );
    const program = await chatting();
    await program.enter("write\r", /all \[e\]dits, .*then Enter:$/);
    await program.enter("e\r", /Both\.\n\n.* · accept-edits .*\n>$/);
    expect([isWritten("a.txt"), isWritten("b.txt")]).toEqual([true, true]);
    expect(await leave(program)).toBe(0);
  });
});

test("! runs a command of the user's own, and /share shows it to the model", async () => {
  wire.script(answerWith({ text: "Seen." }));
  const program = await chatting();
  await program.enter("/share\r", /nothing to share/);
  await program.enter("!echo mine; exit 3\r", /\nmine\n[\s\S]*Exit 3\. \/share shows it to the model\.\n\n.*\n>$/);
  expect(wire.requests).toHaveLength(0);
  await program.enter("/share why?\r", /Seen\.\n\n.*\n>$/);
  expect(wire.requests[0]?.text).toMatch(/I ran `echo mine; exit 3`\. Exit 3\. It printed:.*mine.*why\?/s);
  expect(await leave(program)).toBe(0);
});

describe("keys", () => {
  test("Escape ends the answer and never the program", async () => {
    wire.script(
      (request) => streamOf(sse(replyEvents(request.format, { text: "Half " })).slice(0, -2), { end: "hang" }),
      answerWith({ text: "Again." }),
    );
    const program = await chatting();
    await program.enter("hi\r", /Half/);
    await program.enter("\u001b", /Interrupted\.\n\n.*\n>$/);
    program.type("\u001b");
    await program.enter("more\r", /Again\.\n\n.*\n>$/);
    program.type("exit\r");
    expect(await program.ended).toBe(0);
  });

  test("Escape leaves a question open, and the chat says how to answer it", async () => {
    wire.script(call("write_file", { path: "a.txt", content: "x\n" }), answerWith({ text: "Written." }));
    const program = await chatting();
    await program.enter("write\r", /then Enter:$/);
    await program.enter("\u001b", /stays open: \/answer asks again\.[\s\S]*\n>$/);
    await program.enter("/answer\r", /then Enter:$/);
    await program.enter("y\r", /Written\.\n\n.*\n>$/);
    expect(await leave(program)).toBe(0);
  });

  test("Ctrl-R finds what was typed before by a part of it", async () => {
    wire.script(answerWith({ text: "One." }), answerWith({ text: "Two." }), answerWith({ text: "Three." }));
    const program = await chatting();
    await program.enter("about herons\r", /One\.\n\n.*\n>$/);
    await program.enter("about wrens\r", /Two\.\n\n.*\n>$/);
    await program.enter("\u0012hero", /filter: hero\n→ about herons$/);
    await program.enter("\r", /\n> about herons$/);
    await program.enter("\r", /Three\.\n\n.*\n>$/);
    expect(await leave(program)).toBe(0);
  });
});

describe("what a model says", () => {
  /** Thinks, as compatible servers stream it, before it answers. */
  const thinks = (lines: readonly string[], text: string) => () => {
    const chunk = (delta: object, finish: string | null = null): string =>
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    const thoughts = lines.map((line) => chunk({ role: "assistant", reasoning_content: `${line}\n` }));
    return streamOf([...thoughts, chunk({ content: text }), chunk({}, "stop"), "data: [DONE]\n\n"]);
  };

  test("thinking is dim and folded: three lines, and the rest by Ctrl-O", async () => {
    wire.script(thinks(["first thought", "second thought", "third thought", "fourth thought"], "So."));
    const program = await chatting();
    program.type("hi\r");
    await program.shows(/ {2}first thought\n {2}second thought\n {2}third thought\n {2}… 1 more\n\nSo\.\n\n.*\n>$/);
    expect(program.screen.raw).toMatch(/\u001b\[2m\s*second thought/);
    await program.enter("\u000f", /thinking\n {2}first thought[\s\S]*fourth thought\n\(1 to 5 of 5\)$/);
    await program.enter("\u000f", /So\.\n\n.*\n>$/);
    expect(await leave(program)).toBe(0);
  });

  test("shows the last line of thinking while it comes", async () => {
    const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
    const choices = [
      { index: 0, delta: { role: "assistant", reasoning_content: "first\nsecond" }, finish_reason: null },
    ];
    wire.script(streamOf([`data: ${JSON.stringify({ ...chunk, choices })}\n\n`], { end: "hang" }));
    const program = await chatting();
    await program.enter("hi\r", /> hi\n\nsecond\n\n.*thinking.*\n>$/);
    await program.enter("\u001b", /Interrupted\./);
    expect(await leave(program)).toBe(0);
  });

  test("what a command lists is as bright as an answer, with the summaries in a column, or below in a narrow window", async () => {
    const program = await chatting();
    program.type("/mode\r");
    await program.shows(
      /\n→ ask {11}reads[^\n]*\n {16}about everything else\n {2}plan {10}reads[\s\S]*\n {2}full[\s\S]*\n>$/,
    );
    program.type("/help\r");
    await program.shows(
      /\n {2}\/permissions {18}show what runs, needs your answer or is refused,\n {32}and[\s\S]*\n>$/,
    );
    expect(program.screen.raw).not.toMatch(/\u001b\[2m[^\u001b]*\/permissions /);
    expect(await leave(program)).toBe(0);
    const narrow = await chatting([], { columns: 40 });
    narrow.type("/help\r");
    await narrow.shows(/\n {2}\/context\n {6}show the parts of a request, with\n {6}their tokens[\s\S]*\n>$/);
    expect(await leave(narrow)).toBe(0);
  });

  test("-c shows the last exchange, and errors of tools come without words that are for the model", async () => {
    wire.script(call("read_file", { path: "none.txt" }), answerWith({ text: "It is not there." }));
    const program = await chatting();
    await program.enter("read none.txt\r", /It is not there\.\n\n.*\n>$/);
    expect(program.screen.text).toMatch(/✗ read_file none\.txt/);
    expect(program.screen.text).not.toContain("Error executing");
    expect(await leave(program)).toBe(0);
    const again = start(["-c"]);
    await again.shows(/> read none\.txt\n\nIt is not there\.\n\n.*\n>$/);
    // A note of several lines is dim to its end.
    expect(again.screen.raw).toMatch(/\u001b\[2m> read none\.txt[\s\S]*\u001b\[2mIt is not there\./);
    expect(await leave(again)).toBe(0);
  });
});
