import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  answerWith,
  hasTerminals,
  replyEvents,
  sharedCommand,
  sharedTerminal,
  sharedWireServer,
  sse,
  streamOf,
  type TerminalProgram,
  workFolders,
} from "@toolcrib/testing";
import { describe, expect, test } from "vitest";

const bin = fileURLToPath(new URL("../../../dist/bin.js", import.meta.url));
const work = workFolders("everyday");
const wire = await sharedWireServer();
const onTerminal = sharedTerminal(bin);
const command = sharedCommand(bin);

interface Size {
  readonly columns?: number;
  readonly rows?: number;
}

function start(flags: readonly string[], size: Size = {}): TerminalProgram {
  const args = ["chat", "-m", "openai-compatible/m", "--base-url", `${wire.url}/v1`, ...flags];
  return onTerminal(args, { cwd: work.folder, env: { XDG_STATE_HOME: work.state }, ...size });
}

async function chatting(flags: readonly string[] = [], size: Size = {}): Promise<TerminalProgram> {
  const program = start(flags, size);
  await program.shows(/lists\s+commands\.[\s\S]*\n>$/);
  return program;
}

async function leave(program: TerminalProgram): Promise<void> {
  program.type("/quit\r");
  expect(await program.ended).toBe(0);
}

const call = (name: string, args: object) => answerWith({ calls: [{ name, args: JSON.stringify(args) }] });
const isWritten = (name: string): boolean => existsSync(join(work.folder, name));

/** The names of the tools of a request. */
const toolsOf = (index: number): string[] =>
  ((wire.requests[index]?.body.tools ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name);

describe.skipIf(!hasTerminals())("the mode of a conversation", () => {
  test("is changed by Shift-Tab, shown in the status row, and kept by /clear", async () => {
    const program = await chatting();
    await program.shows(/\nopenai-compatible\/m · ask .*\n>$/);
    for (const mode of ["accept-edits", "plan", "ask", "accept-edits"]) {
      program.type("\u001b[Z");
      await program.shows(new RegExp(`\\nopenai-compatible/m · ${mode} .*\\n>$`));
    }
    program.type("/clear\r");
    await program.shows(/A new conversation begins[\s\S]*\nopenai-compatible\/m · accept-edits .*\n>$/);
    program.type("/mode full\r");
    await program.shows(/full: everything runs[\s\S]*m · full .*\n>$/);
    program.type("\u001b[Z");
    await program.shows(/\nopenai-compatible\/m · ask .*\n>$/);
    program.type("/mode nothing\r");
    await program.shows(/There is no mode nothing; the modes are ask, plan/);
    await leave(program);
  });

  test("is the configured one where a conversation goes on", async () => {
    wire.script(answerWith({ text: "Here." }));
    const program = await chatting(["--mode", "plan"]);
    program.type("hi\r");
    await program.shows(/Here\.\n[\s\S]*\n>$/);
    await leave(program);
    writeFileSync(join(work.folder, ".toolcrib.json"), '{ "mode": "accept-edits" }');
    const options = { cwd: work.folder, env: { XDG_STATE_HOME: work.state } };
    expect((await command(["config", "trust"], options)).code).toBe(0);
    const again = start(["-c"]);
    await again.shows(/> hi\n\nHere\.\n\n.*m · accept-edits .*\n>$/);
    await leave(again);
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
    program.type("\u001b[Z");
    await program.shows(/m · ask .*\n>$/);
    program.type("\u001b[Z");
    await program.shows(/m · accept-edits .*\n>$/);
    program.type("go on\r");
    await program.shows(/Done\.\n\n.*\n>$/);
    expect(isWritten("a.txt")).toBe(true);
    await leave(program);
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
    program.type("write\r");
    await program.shows(/all \[e\]dits, .*then Enter:$/);
    program.type("e\r");
    await program.shows(/Both\.\n\n.* · accept-edits .*\n>$/);
    expect([isWritten("a.txt"), isWritten("b.txt")]).toEqual([true, true]);
    await leave(program);
  });
});

describe.skipIf(!hasTerminals() || process.platform !== "linux")("the shell", () => {
  test.each<[string[], boolean]>([
    [[], true],
    [["--mode", "plan"], true],
    [["--mode", "accept-edits"], true],
    [["--disable", "run_bash"], false],
    [["--no-sandbox"], false],
    [["--mode", "full"], false],
  ])("with %j is in the request: %j", async (flags, isOn) => {
    wire.script(answerWith({ text: "Here." }));
    const program = await chatting(flags);
    program.type("hi\r");
    await program.shows(/Here\.\n[\s\S]*\n>$/);
    expect(toolsOf(0).includes("run_bash")).toBe(isOn);
    expect(toolsOf(0)).not.toContain("save_session_context");
    expect(/--enable\s+run_bash\s+turns\s+them\s+on/.test(program.screen.text)).toBe(flags[0] === "--no-sandbox");
    await leave(program);
  });

  test("is on in run at a terminal, too, and off without one", async () => {
    const args = ["run", "hi", "-m", "openai-compatible/m", "--base-url", `${wire.url}/v1`];
    const options = { cwd: work.folder, env: { XDG_STATE_HOME: work.state } };
    wire.script(answerWith({ text: "Here." }), answerWith({ text: "Here." }));
    expect(await onTerminal(args, options).ended).toBe(0);
    expect((await command(args, options)).code).toBe(0);
    expect([0, 1].map((index) => toolsOf(index).includes("run_bash"))).toEqual([true, false]);
  });

  test.each([
    [80, 6],
    [40, 10],
  ])("a question about a command of one row takes few rows at %i columns", async (columns, most) => {
    wire.script(call("run_bash", { command: "touch ran" }), answerWith({ text: "Ran." }));
    const program = await chatting([], { columns });
    program.type("touch\r");
    await program.shows(/then\s+Enter:$/);
    const { text } = program.screen;
    const rows = text.slice(text.lastIndexOf("run_bash would run:")).split("\n");
    expect(rows.length).toBeLessThanOrEqual(most);
    const words = rows.join(" ").replace(/\s+/g, " ");
    expect(words).toContain("asked: `touch` is not a read-only command");
    expect(words).toContain("always: `touch ran`, in the sandbox, in this folder");
    program.type("v\r");
    await program.shows(/always\s+means\s+run_bash:\s+run:\s+touch\s+ran\s+\(sandbox;/);
    program.type("y\r");
    await program.shows(/Ran\.\n\n.*\n>$/);
    expect(isWritten("ran")).toBe(true);
    await leave(program);
  });

  test("! runs a command of the user's own, and /share shows it to the model", async () => {
    wire.script(answerWith({ text: "Seen." }));
    const program = await chatting();
    program.type("/share\r");
    await program.shows(/nothing to share/);
    program.type("!echo mine; exit 3\r");
    await program.shows(/\nmine\n[\s\S]*Exit 3\. \/share shows it to the model\.\n\n.*\n>$/);
    expect(wire.requests).toHaveLength(0);
    program.type("/share why?\r");
    await program.shows(/Seen\.\n\n.*\n>$/);
    expect(wire.requests[0]?.text).toMatch(/I ran `echo mine; exit 3`\. Exit 3\. It printed:.*mine.*why\?/s);
    await leave(program);
  });
});

describe.skipIf(!hasTerminals())("keys", () => {
  test("Escape ends the answer and never the program", async () => {
    wire.script(
      (request) => streamOf(sse(replyEvents(request.format, { text: "Half " })).slice(0, -2), { end: "hang" }),
      answerWith({ text: "Again." }),
    );
    const program = await chatting();
    program.type("hi\r");
    await program.shows(/Half/);
    program.type("\u001b");
    await program.shows(/Interrupted\.\n\n.*\n>$/);
    program.type("\u001b");
    program.type("more\r");
    await program.shows(/Again\.\n\n.*\n>$/);
    program.type("exit\r");
    expect(await program.ended).toBe(0);
  });

  test("Escape leaves a question open, and the chat says how to answer it", async () => {
    wire.script(call("write_file", { path: "a.txt", content: "x\n" }), answerWith({ text: "Written." }));
    const program = await chatting();
    program.type("write\r");
    await program.shows(/then Enter:$/);
    program.type("\u001b");
    await program.shows(/stays open: \/answer asks again\.[\s\S]*\n>$/);
    program.type("/answer\r");
    await program.shows(/then Enter:$/);
    program.type("y\r");
    await program.shows(/Written\.\n\n.*\n>$/);
    await leave(program);
  });

  test("Ctrl-R finds what was typed before by a part of it", async () => {
    wire.script(answerWith({ text: "One." }), answerWith({ text: "Two." }), answerWith({ text: "Three." }));
    const program = await chatting();
    program.type("about herons\r");
    await program.shows(/One\.\n\n.*\n>$/);
    program.type("about wrens\r");
    await program.shows(/Two\.\n\n.*\n>$/);
    program.type("\u0012hero");
    await program.shows(/filter: hero\n→ about herons$/);
    program.type("\r");
    await program.shows(/\n> about herons$/);
    program.type("\r");
    await program.shows(/Three\.\n\n.*\n>$/);
    await leave(program);
  });
});

describe.skipIf(!hasTerminals())("what a model says", () => {
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
    program.type("\u000f");
    await program.shows(/thinking\n {2}first thought[\s\S]*fourth thought\n\(1 to 5 of 5\)$/);
    program.type("\u000f");
    await program.shows(/So\.\n\n.*\n>$/);
    await leave(program);
  });

  test("shows the last line of thinking while it comes", async () => {
    const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
    const choices = [
      { index: 0, delta: { role: "assistant", reasoning_content: "first\nsecond" }, finish_reason: null },
    ];
    wire.script(streamOf([`data: ${JSON.stringify({ ...chunk, choices })}\n\n`], { end: "hang" }));
    const program = await chatting();
    program.type("hi\r");
    await program.shows(/> hi\n\nsecond\n\n.*thinking.*\n>$/);
    program.type("\u001b");
    await program.shows(/Interrupted\./);
    await leave(program);
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
    await leave(program);
    const narrow = await chatting([], { columns: 40 });
    narrow.type("/help\r");
    await narrow.shows(/\n {2}\/context\n {6}show the parts of a request, with\n {6}their tokens[\s\S]*\n>$/);
    await leave(narrow);
  });

  test("-c shows the last exchange, and errors of tools come without words that are for the model", async () => {
    wire.script(call("read_file", { path: "none.txt" }), answerWith({ text: "It is not there." }));
    const program = await chatting();
    program.type("read none.txt\r");
    await program.shows(/It is not there\.\n\n.*\n>$/);
    expect(program.screen.text).toMatch(/✗ read_file none\.txt/);
    expect(program.screen.text).not.toContain("Error executing");
    await leave(program);
    const again = start(["-c"]);
    await again.shows(/> read none\.txt\n\nIt is not there\.\n\n.*\n>$/);
    // A note of several lines is dim to its end.
    expect(again.screen.raw).toMatch(/\u001b\[2m> read none\.txt[\s\S]*\u001b\[2mIt is not there\./);
    await leave(again);
  });
});
