import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  answerWith,
  hasTerminals,
  type ProgramEnd,
  sharedCommand,
  sharedTerminal,
  sharedWireServer,
  type TerminalProgram,
  workFolders,
} from "@toolcrib/testing";
import { describe, expect, test } from "vitest";

const bin = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));
const work = workFolders("question");
const wire = await sharedWireServer();
const command = sharedCommand(bin);
const terminal = sharedTerminal(bin);

const model = (): string[] => ["-m", "openai-compatible/m", "--base-url", `${wire.url}/v1`];

function onTerminal(...args: string[]): TerminalProgram {
  return terminal([...args, ...model()], { cwd: work.folder, env: { XDG_STATE_HOME: work.state } });
}

function toolcrib(...args: string[]): Promise<ProgramEnd> {
  return command(args, { cwd: work.folder, env: { XDG_STATE_HOME: work.state } });
}

/** A model that writes a file, then says so. */
function writes(path: string, content = "new\n"): void {
  wire.script(answerWith({ calls: [{ name: "write_file", args: JSON.stringify({ path, content }) }] }));
  wire.script(answerWith({ text: "Done." }));
}

const isWritten = (name: string): boolean => existsSync(join(work.folder, name));
const asks = /then Enter:$/;

describe.skipIf(!hasTerminals())("a question", () => {
  test("that is answered with words is a no, and the model reads them", async () => {
    writes("one.txt");
    const program = onTerminal("run", "write");
    await program.shows(asks);
    program.type("put it into two.txt\r");
    expect(await program.ended).toBe(4);
    expect(wire.requests[1]?.text).toContain("the user said no to this call: put it into two.txt");
    expect(isWritten("one.txt")).toBe(false);
  });

  test("shows the end of an answer that is longer than its row, and nothing of it once it is erased", async () => {
    writes("one.txt");
    const program = onTerminal("run", "write");
    await program.shows(asks);
    program.type(`${"~".repeat(100)}!`);
    await program.shows(/why not, then Enter: …~+!$/);
    program.type(`${"\u007f".repeat(101)}not now\r`);
    expect(await program.ended).toBe(4);
    expect(program.screen.text).toMatch(/why not, then Enter: not now\n/);
    expect(program.screen.text).not.toContain("~");
    expect(wire.requests[1]?.text).toContain("the user said no to this call: not now");
  });

  test("that is answered with always is not asked again, in no later run, until the answer is revoked", async () => {
    writes("one.txt");
    const program = onTerminal("run", "write");
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
    expect(readFileSync(join(work.folder, "one.txt"), "utf8")).toBe("newer\n");
    // A rule that asks, or another set of roots, is not what was answered.
    expect(await again("--ask", "write_file")).toBe(4);
    expect(await again("--root", ".", "--root", "..")).toBe(4);

    const { stdout } = await toolcrib("permissions", "list");
    const [, id = ""] = /^([0-9a-f]{8}) .*write_file: write one\.txt$/m.exec(stdout) ?? [];
    expect((await toolcrib("permissions", "revoke", id)).stdout).toBe("Forgotten: write_file: write one.txt\n");
    expect(await again()).toBe(4);
  });

  test("about a command that is answered with always is not asked in the next conversation", async () => {
    const runs = (): void =>
      wire.script(
        answerWith({ calls: [{ name: "run_bash", args: JSON.stringify({ command: "touch ran" }) }] }),
        answerWith({ text: "Done." }),
      );
    runs();
    const program = onTerminal("run", "go", "--enable", "run_bash");
    await program.shows(asks);
    program.type("a\r");
    expect(await program.ended).toBe(0);
    wire.reset();
    runs();
    expect(await toolcrib("run", "go", "--enable", "run_bash", ...model())).toMatchObject({ code: 0 });
    expect(wire.requests).toHaveLength(2);
  });

  test("shows the diff of a file, its head and tail where it is long, and the rest by v", async () => {
    const lines = Array.from({ length: 60 }, (_, index) => `line ${index + 1}`);
    writeFileSync(join(work.folder, "long.txt"), `${lines.join("\n")}\n`);
    const changed = lines.map((line, index) => (index === 29 ? "changed\u202e" : index < 29 ? `${line}!` : line));
    writes("long.txt", `${changed.join("\n")}\n`);
    const program = onTerminal("run", "write");
    await program.shows(
      / {2}@@ -1,33 \+1,33 @@\n {2}-line 1\n[\s\S]* … \d+ more rows\n[\s\S]*\[v\]iew[\s\S]*then Enter:$/,
    );
    expect(program.screen.text).toContain("+changed<U+202E>");
    program.type("v\r");
    await program.shows(/-line \d+\n\(rows 1 to 20 of 69; v shows the next\)\n\[y\]es/);
    program.type("y\r");
    expect(await program.ended).toBe(0);
    expect(readFileSync(join(work.folder, "long.txt"), "utf8")).toContain("changed\u202e\n");
  });

  test.each(["Ctrl-C", "kill -9"])(
    "that is left by %s is asked again by chat -c, and its call runs once",
    async (how) => {
      writeFileSync(join(work.folder, "one.txt"), "old\n");
      wire.script(
        answerWith({
          calls: [{ name: "edit_file", args: '{"path":"one.txt","edits":[{"old_text":"old","new_text":"older"}]}' }],
        }),
      );
      const program = onTerminal("run", "edit");
      await program.shows(asks);
      if (how === "Ctrl-C") program.type("\u0003");
      else program.kill();
      expect(await program.ended).toBe(how === "Ctrl-C" ? 130 : 137);
      expect(readFileSync(join(work.folder, "one.txt"), "utf8")).toBe("old\n");

      wire.script(answerWith({ text: "Done." }));
      const chat = onTerminal("chat", "-c");
      await chat.shows(/edit_file would write one\.txt[\s\S]* {2}-old\n {2}\+older\n[\s\S]*then Enter:$/);
      chat.type("y\r");
      await chat.shows(/✓ edit_file[\s\S]*Done\.\n\n.*\n>$/);
      chat.type("/answer\r");
      await chat.shows(/No question waits\.\n\n.*\n>$/);
      chat.type("\u0004");
      expect(await chat.ended).toBe(0);
      expect(readFileSync(join(work.folder, "one.txt"), "utf8")).toBe("older\n");
      expect(wire.requests).toHaveLength(2);
    },
  );

  test("that a message comes instead of an answer to is a no", async () => {
    writes("one.txt");
    const program = onTerminal("chat");
    program.type("write\r");
    await program.shows(asks);
    program.type("\u0003");
    await program.shows(/Interrupted\.[\s\S]*\n>$/);
    program.type("/answer\r");
    await program.shows(asks);
    program.type("\u0003");
    await program.shows(/Interrupted\.[\s\S]*Interrupted\.[\s\S]*\n>$/);
    program.type("leave it\r");
    await program.shows("Done.");
    program.type("/quit\r");
    expect(await program.ended).toBe(0);
    expect(wire.requests[1]?.text).toContain("the user sent a message instead of an answer");
    expect(isWritten("one.txt")).toBe(false);
  });

  test("of tools call is answered in place", async () => {
    const args = ["tools", "call", "write_file", "--path", ".envrc", "--content", "x"];
    const program = terminal(args, { cwd: work.folder, env: { XDG_STATE_HOME: work.state } });
    await program.shows(/it is protected \(\.envrc\)[\s\S]*\[y\]es, \[v\]iew, \[n\]o, or why not, then Enter:$/);
    program.type("y\r");
    expect(await program.ended).toBe(0);
    expect(isWritten(".envrc")).toBe(true);
  });
});

test.skipIf(!hasTerminals())("while a command runs, the terminal shows what it printed last", async () => {
  const line = "echo first; while ! test -e go; do sleep 0.1; done; echo last";
  const args = ["tools", "call", "run_bash", "--enable", "run_bash", "--no-sandbox", "--command", line];
  const program = terminal(args, { cwd: work.folder, env: { XDG_STATE_HOME: work.state } });
  await program.shows(/^ {2}first$/);
  writeFileSync(join(work.folder, "go"), "");
  expect(await program.ended).toBe(0);
  expect(program.screen.text).toBe('{"stdout":"first\\nlast\\n","stderr":"","exit_code":0}');
});
