import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { answerWith, type ProgramEnd, sharedWireServer } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { call, command, homeFor, modelAt, type OnTerminal } from "../../fixtures/command.ts";

const work = homeFor("question");
const wire = await sharedWireServer();

const model = (): string[] => modelAt(wire);

function started(...args: string[]): OnTerminal {
  return work.onTerminal([...args, ...model()]);
}

function toolcrib(...args: string[]): Promise<ProgramEnd> {
  return work.toolcrib(args);
}

/** A model that writes a file, then says so. */
function writes(path: string, content = "new\n"): void {
  wire.script(call("write_file", { path, content }));
  wire.script(answerWith({ text: "Done." }));
}

const isWritten = (name: string): boolean => existsSync(work.at(name));
const asks = /then Enter:$/;

describe("a question", () => {
  test("shows the end of an answer that is longer than its row, and nothing of it once it is erased", async () => {
    writes("one.txt");
    const program = started("run", "write");
    await program.shows(asks);
    await program.enter(`${"~".repeat(100)}!`, /why not, then Enter: …~+!$/);
    program.type(`${"\u007f".repeat(101)}not now\r`);
    expect(await program.ended).toBe(4);
    expect(program.screen.text).toMatch(/why not, then Enter: not now\n/);
    expect(program.screen.text).not.toContain("~");
    expect(wire.requests[1]?.text).toContain("the user said no to this call: not now");
  });

  test("that is answered with always is not asked again, in no later run, until the answer is revoked", async () => {
    writes("one.txt");
    const program = started("run", "write");
    await program.shows(asks);
    program.type("a\r");
    expect(await program.ended).toBe(0);

    // Without a terminal, so that a question would end it.
    const again = async (...flags: string[]): Promise<number | null> => {
      wire.reset();
      writes("one.txt", "newer\n");
      return (await toolcrib("run", "write", ...flags, ...model())).code;
    };
    expect(await again()).toBe(0);
    expect(readFileSync(work.at("one.txt"), "utf8")).toBe("newer\n");
    // A rule that asks, or another set of roots, is not what was answered.
    expect(await again("--ask", "write_file")).toBe(4);
    expect(await again("--root", ".", "--root", "..")).toBe(4);

    const { stdout } = await toolcrib("permissions", "list");
    const [, id = ""] = /^([0-9a-f]{8}) .*write_file: write one\.txt$/m.exec(stdout) ?? [];
    expect((await toolcrib("permissions", "revoke", id)).stdout).toBe("Forgotten: write_file: write one.txt\n");
    expect(await again()).toBe(4);
  });

  test("shows the diff of a file, its head and tail where it is long, and the rest by v", async () => {
    const lines = Array.from({ length: 60 }, (_, index) => `line ${index + 1}`);
    writeFileSync(work.at("long.txt"), `${lines.join("\n")}\n`);
    const changed = lines.map((line, index) => (index === 29 ? "changed\u202e" : index < 29 ? `${line}!` : line));
    writes("long.txt", `${changed.join("\n")}\n`);
    const program = started("run", "write");
    await program.shows(
      / {2}@@ -1,33 \+1,33 @@\n {2}-line 1\n[\s\S]* … \d+ more rows\n[\s\S]*\[v\]iew[\s\S]*then Enter:$/,
    );
    expect(program.screen.text).toContain("+changed<U+202E>");
    await program.enter("v\r", /-line \d+\n\(rows 1 to 20 of 69; v shows the next\)\n\[y\]es/);
    program.type("y\r");
    expect(await program.ended).toBe(0);
    expect(readFileSync(work.at("long.txt"), "utf8")).toContain("changed\u202e\n");
  });

  test("that is left by Ctrl-C is asked again by chat -c, and its call runs once", async () => {
    writeFileSync(work.at("one.txt"), "old\n");
    wire.script(call("edit_file", { path: "one.txt", edits: [{ old_text: "old", new_text: "older" }] }));
    const program = started("run", "edit");
    await program.shows(asks);
    program.type("\u0003");
    expect(await program.ended).toBe(130);
    expect(readFileSync(work.at("one.txt"), "utf8")).toBe("old\n");

    wire.script(answerWith({ text: "Done." }));
    const chat = started("chat", "-c");
    await chat.shows(/edit_file would write one\.txt[\s\S]* {2}-old\n {2}\+older\n[\s\S]*then Enter:$/);
    await chat.enter("y\r", /✓ edit_file[\s\S]*Done\.\n\n.*\n>$/);
    await chat.enter("/answer\r", /No question waits\.\n\n.*\n>$/);
    chat.type("\u0004");
    expect(await chat.ended).toBe(0);
    expect(readFileSync(work.at("one.txt"), "utf8")).toBe("older\n");
    expect(wire.requests).toHaveLength(2);
  });

  test("that a message comes instead of an answer to is a no", async () => {
    writes("one.txt");
    const program = started("chat");
    await program.enter("write\r", asks);
    await program.enter("\u0003", /Interrupted\.[\s\S]*\n>$/);
    await program.enter("/answer\r", asks);
    await program.enter("\u0003", /Interrupted\.[\s\S]*Interrupted\.[\s\S]*\n>$/);
    await program.enter("leave it\r", "Done.");
    program.type("/quit\r");
    expect(await program.ended).toBe(0);
    expect(wire.requests[1]?.text).toContain("the user sent a message instead of an answer");
    expect(isWritten("one.txt")).toBe(false);
  });

  test("of tools call is answered in place", async () => {
    const args = ["tools", "call", "write_file", "--path", ".envrc", "--content", "x"];
    const program = work.onTerminal(args);
    await program.shows(/it is protected \(\.envrc\)[\s\S]*\[y\]es, \[v\]iew, \[n\]o, or why not, then Enter:$/);
    program.type("y\r");
    expect(await program.ended).toBe(0);
    expect(isWritten(".envrc")).toBe(true);
  });
});

test("while a command runs, the terminal shows what it printed last", async () => {
  const line = "echo first; while ! test -e go; do sleep 0.1; done; echo last";
  const args = ["tools", "call", "run_bash", "--enable", "run_bash", "--no-sandbox", "--command", line];
  const program = work.onTerminal(args);
  await program.shows(/^ {2}first$/);
  writeFileSync(work.at("go"), "");
  expect(await program.ended).toBe(0);
  expect(program.screen.text).toBe('{"stdout":"first\\nlast\\n","stderr":"","exit_code":0}');
});

describe.skipIf(process.platform !== "linux")("an always holds for the same action", () => {
  const runs = (args: object): void => void wire.script(call("run_bash", args), answerWith({ text: "Done." }));
  const shell = ["--enable", "run_bash", "--no-sandbox"];
  /** Answers with always, in chat or in run. */
  async function always(how: string, args: object, ...flags: string[]): Promise<void> {
    runs(args);
    const program = how === "chat" ? started("chat", ...flags) : started("run", "go", ...flags);
    if (how === "chat") program.type("go\r");
    await program.shows(asks);
    await program.enter("a\r", "Done.");
    if (how === "chat") program.type("/quit\r");
    expect(await program.ended).toBe(0);
    wire.reset();
  }
  /** Runs the same without a terminal, where a question refuses it. */
  const again = async (how: string, args: object, ...flags: string[]): Promise<boolean> => {
    runs(args);
    const input = how === "chat" ? { input: "go\n" } : {};
    const words = how === "chat" ? ["chat"] : ["run", "go"];
    const options = { cwd: work.folder, env: { XDG_STATE_HOME: work.state }, ...input };
    const { stdout } = await command([...words, ...model(), ...flags], options);
    wire.reset();
    return stdout.includes("Done.");
  };

  test.each([
    ["chat", "run", { command: "touch a" }, shell, shell],
    ["run", "chat", { command: "touch a" }, shell, shell],
    ["chat", "run", { command: "touch a", timeout: 5000 }, shell, shell],
    [
      "chat",
      "run",
      { command: "touch a", background: false },
      ["--enable", "run_bash,write_input", "--no-sandbox"],
      shell,
    ],
    ["chat", "chat", { command: "touch a" }, ["--enable", "run_bash,write_input", "--no-sandbox"], shell],
  ])("given in %s, then in %s, of %j", async (first, then, args, flags, others) => {
    await always(first, args, ...flags);
    const { background: _, ...rest } = { background: false, ...args };
    expect(await again(then, rest, ...others)).toBe(true);
  });

  test("and not for the same command in the background, nor for another", async () => {
    await always("run", { command: "touch a" }, ...shell);
    expect(await again("chat", { command: "touch a", background: true }, ...shell)).toBe(false);
    expect(await again("chat", { command: "touch b" }, ...shell)).toBe(false);
  });
});
