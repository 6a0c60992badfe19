import { existsSync, readFileSync } from "node:fs";
import { answerWith, sharedWireServer } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { bin, call, homeFor, modelAt, type OnTerminal } from "../../fixtures/command.ts";

const work = homeFor("ask");
const wire = await sharedWireServer();

const flags = (): string[] => modelAt(wire);

function toolcrib(...args: string[]): OnTerminal {
  return work.onTerminal([...args, ...flags()]);
}

/** A model that writes files, one in each reply, then says so. */
function writes(...names: string[]): void {
  for (const name of names) {
    wire.script(call("write_file", { content: "new\n", path: name }));
  }
  wire.script(answerWith({ text: "Written." }));
}

const isWritten = (name: string): boolean => existsSync(work.at(name));
const choices = "[y]es, [a]lways, all [e]dits, [v]iew, [n]o, or why not, then Enter:";
const question = (name: string): string =>
  [
    `write_file would write ${name}`,
    `  --- ${name}`,
    `  +++ ${name}`,
    "  @@ -0,0 +1,1 @@",
    "  +new",
    "asked: the mode ask asks before each change",
    `always: write_file: write ${name}, in this folder`,
    choices,
  ].join("\n");

describe("a question on a terminal", () => {
  test("shows the call and takes the answer that is typed after it", async () => {
    writes("one.txt", "two.txt");
    const program = toolcrib("run", "write");
    await program.shows(question("one.txt"));
    expect(isWritten("one.txt")).toBe(false);
    await program.enter("nx\u007f\u007fy\r", question("two.txt"));
    expect(readFileSync(work.at("one.txt"), "utf8")).toBe("new\n");
    program.type("\r");
    expect(await program.ended).toBe(4);
    expect(isWritten("two.txt")).toBe(false);
    expect(program.screen.text).toMatch(
      /write one\.txt[\s\S]*why not, then Enter: y\n✓ write_file[\s\S]*then Enter:\n✗ .*said no[\s\S]*Written\./,
    );
  });

  test.each(["y\r", "a\r", "y\ry\ry\ry\r", "y"])(
    "does not accept keys typed before it (%j) as an answer",
    async (ahead) => {
      writes("one.txt", "two.txt");
      const program = toolcrib("run", "write");
      await program.enter(ahead, question("one.txt"));
      expect(isWritten("one.txt")).toBe(false);
      await program.enter("n\r", question("two.txt"));
      program.type("n\r");
      expect(await program.ended).toBe(4);
      expect([isWritten("one.txt"), isWritten("two.txt")]).toEqual([false, false]);
    },
  );

  test("does not accept a paste of several lines as an answer", async () => {
    writes("one.txt");
    const program = toolcrib("run", "write");
    await program.shows(question("one.txt"));
    await program.enter("y\rand more\r", /why not, then Enter:\s+\(one line, please\)$/);
    program.type("n\r");
    expect(await program.ended).toBe(4);
    expect(isWritten("one.txt")).toBe(false);
  });

  test.each<[how: string, end: (program: OnTerminal) => void, code: number | undefined, says: RegExp]>([
    [
      "Ctrl-C",
      (program) => program.type("y\u0003"),
      130,
      /toolcrib: Interrupted\. The question stays open: toolcrib chat -c asks again\.$/,
    ],
    ["an interrupt from elsewhere", (program) => program.interrupt(), 130, /Interrupted\./],
    ["Ctrl-D", (program) => program.type("\u0004"), 4, /wait for your answer: toolcrib chat -c asks for it\./],
    ["the end of the window", (program) => program.hangUp(), undefined, /then Enter:/],
  ])("is no yes at %s, and ends the turn", async (_how, end, code, says) => {
    writes("one.txt", "two.txt");
    const program = toolcrib("run", "write");
    await program.shows(question("one.txt"));
    end(program);
    const ended = await program.ended;
    expect(ended).toBe(code ?? ended);
    expect(isWritten("one.txt")).toBe(false);
    expect(program.screen.text).toMatch(says);
    expect(wire.requests).toHaveLength(1);
  });

  test("in chat leaves lines that were typed ahead as messages", async () => {
    writes("one.txt");
    wire.script(answerWith({ text: "You said a." }));
    const program = toolcrib("chat");
    await program.enter("write\ra\r", question("one.txt"));
    await program.enter("n\r", "You said a.");
    program.type("\u0004");
    expect(await program.ended).toBe(0);
    expect(isWritten("one.txt")).toBe(false);
  });
});

test("a mounted tool that claims to be read-only is asked about", async () => {
  await work.toolcrib(["mcp", "add", "own", process.execPath, bin, "mcp", "serve"]);
  for (const name of ["list_dir", "mcp__own__list_dir"]) {
    wire.script(answerWith({ calls: [{ name, args: '{"path":"."}' }] }));
  }
  wire.script(answerWith({ text: "Listed." }));
  const { code, stderr } = await work.toolcrib(["run", "list", "--mcp", ...flags()]);
  expect(stderr).toMatch(
    /✓ list_dir[\s\S]*Not run: mcp__own__list_dir would .* --allow 'mcp__own__list_dir' allows every call/,
  );
  expect(code).toBe(4);
});
