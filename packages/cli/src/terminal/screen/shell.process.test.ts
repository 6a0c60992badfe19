import { existsSync } from "node:fs";
import { join } from "node:path";
import { answerWith, sharedWireServer, workFolders } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { call, command, leave, modelAt, type OnTerminal, onTerminal } from "../../../fixtures/command.ts";

const work = workFolders("shell");
const wire = await sharedWireServer();

interface Size {
  readonly columns?: number;
  readonly rows?: number;
}

function start(flags: readonly string[], size: Size = {}): OnTerminal {
  const args = ["chat", ...modelAt(wire), ...flags];
  return onTerminal(args, { cwd: work.folder, env: { XDG_STATE_HOME: work.state }, ...size });
}

async function chatting(flags: readonly string[] = [], size: Size = {}): Promise<OnTerminal> {
  const program = start(flags, size);
  await program.shows(/lists\s+commands\.[\s\S]*\n>$/);
  return program;
}

const isWritten = (name: string): boolean => existsSync(join(work.folder, name));

/** The names of the tools of a request. */
const toolsOf = (index: number): string[] =>
  ((wire.requests[index]?.body.tools ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name);

describe.skipIf(process.platform !== "linux")("the shell, which is on where a sandbox works,", () => {
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
    await program.enter("hi\r", /Here\.\n[\s\S]*\n>$/);
    expect(toolsOf(0).includes("run_bash")).toBe(isOn);
    expect(toolsOf(0)).not.toContain("save_session_context");
    expect(/--enable\s+run_bash\s+turns\s+them\s+on/.test(program.screen.text)).toBe(flags[0] === "--no-sandbox");
    expect(await leave(program)).toBe(0);
  });

  test("is on in run at a terminal, too, and off without one", async () => {
    const args = ["run", "hi", ...modelAt(wire)];
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
    await program.enter("touch\r", /then\s+Enter:$/);
    const { text } = program.screen;
    const rows = text.slice(text.lastIndexOf("run_bash would run:")).split("\n");
    expect(rows.length).toBeLessThanOrEqual(most);
    const words = rows.join(" ").replace(/\s+/g, " ");
    expect(words).toContain("asked: `touch` is not a read-only command");
    expect(words).toContain("always: `touch ran`, in the sandbox, in this folder");
    await program.enter("v\r", /always\s+means\s+run_bash:\s+run:\s+touch\s+ran\s+\(sandbox;/);
    await program.enter("y\r", /Ran\.\n\n.*\n>$/);
    expect(isWritten("ran")).toBe(true);
    expect(await leave(program)).toBe(0);
  });
});
