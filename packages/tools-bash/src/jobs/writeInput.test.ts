import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ExecutableTool, ToolRegistry } from "@toolcrib/core";
import { testTool } from "@toolcrib/core/testing";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { type Reading, readJob, startJob } from "../../fixtures/commands.ts";
import { createBashTools } from "../bash.ts";
import type { BashToolOptions } from "../bashOptions.ts";
import { runShell } from "../process/runShell.ts";
import { createRunBashTool } from "../runBash.ts";
import { type BackgroundJobs, createBackgroundJobs } from "./backgroundJobs.ts";

const folder = import.meta.dirname;
let jobs: BackgroundJobs;

afterEach(() => {
  jobs?.end();
});

interface Written {
  running: boolean;
  written: number;
  waiting: number;
  input: "open" | "closed";
}

interface Use {
  readonly registry: ToolRegistry;
  readonly start: (command: string, args?: Record<string, unknown>) => Promise<string>;
  readonly say: (id: string, args: Record<string, unknown>) => Promise<string>;
  readonly write: (id: string, text: string, close?: boolean) => Promise<Written>;
  /** Reads until this has come, or the command has ended. */
  readonly readUntil: (id: string, text?: string) => Promise<Reading>;
}

function tools(options: BashToolOptions = {}): Use {
  jobs = createBackgroundJobs();
  const registry = new ToolRegistry(createBashTools({ cwd: folder, background: jobs, input: true, ...options }));
  const say: Use["say"] = (id, args) => registry.execute("write_input", { id, ...args });
  return {
    registry,
    say,
    start: (command, args = { input: true }) => startJob(registry, command, args),
    write: async (id, text, close) => JSON.parse(await say(id, { text, close })) as Written,
    readUntil: (id, text) => readJob(registry, id, text),
  };
}

describe("the option", () => {
  test("adds write_input and the argument input, and without it nothing changes", () => {
    const names = (given: BashToolOptions): string[] => createBashTools(given).map(({ name }) => name);
    expect(names({ background: true, input: true }).at(-1)).toBe("write_input");
    expect(names({ background: true, input: false })).toEqual(names({ background: true }));
    const schema = (given: BashToolOptions): string =>
      JSON.stringify(createBashTools(given).map((tool) => tool.getSchema()));
    expect(schema({ background: true, input: false })).toBe(schema({ background: true }));
    expect(schema({ background: true })).not.toContain("input");
    expect(() => createBashTools({ input: true })).toThrow("input has no effect without background");
    expect(() => createBashTools({ background: true, input: undefined as never })).toThrow(
      "input must be true or false",
    );
    expect(() => createRunBashTool({ input: true } as never)).toThrow('unknown option "input"');
  });

  test("input is refused where it is not offered, and for a command that is waited for", async () => {
    const [plain] = createBashTools({ background: true });
    await expect(plain?.execute({ command: "cat", background: true, input: true })).rejects.toThrow(
      "input: is not a parameter here",
    );
    const { registry } = tools();
    expect(await registry.execute("run_bash", { command: "cat", input: true })).toContain("pass background: true too");
  });
});

describe("writing", () => {
  test("a program gets the text as it is, control characters as well, and its answer is read", async () => {
    const { start, write, readUntil } = tools();
    const bytes = await start("od -An -tx1");
    await write(bytes, "a\0\u001b\r\n\u0003", true);
    expect((await readUntil(bytes)).stdout.trim()).toBe("61 00 1b 0d 0a 03");
    const id = await start('while read -r line; do echo "<$line>"; done; echo end');
    expect(await write(id, "one\n")).toEqual({ running: true, written: 4, waiting: 0, input: "open" });
    expect((await readUntil(id, "<one>")).running).toBe(true);
    await write(id, "é\u{1f600} $(touch x) 'q'\\\n");
    expect((await readUntil(id, "q")).stdout).toBe("<é\u{1f600} $(touch x) 'q'\\>\n");
    expect(await write(id, "two\n", true)).toMatchObject({ written: 4, input: "closed" });
    expect(await readUntil(id, "end")).toMatchObject({ stdout: "<two>\nend\n", exit_code: 0 });
  });

  test("closing alone ends what reads to the end, and only once", async () => {
    const { start, say, readUntil } = tools();
    const id = await start("wc -c; sleep 60");
    expect(await say(id, { close: true })).toBe('{"running":true,"written":0,"waiting":0,"input":"closed"}');
    expect((await readUntil(id, "0")).stdout).toBe("0\n");
    expect(await say(id, { text: "more" })).toBe(
      "Error executing write_input: Not written: its input is closed already",
    );
    expect(await say(id, { close: true })).toContain("its input is closed already");
  });

  test("the input can be opened again by its name, as a pipe can", async () => {
    if (process.platform !== "linux") return;
    const { start, write, readUntil } = tools();
    const id = await start("cat /dev/stdin");
    await write(id, "again");
    expect((await readUntil(id, "again")).running).toBe(true);
    await write(id, "end", true);
    expect(await readUntil(id)).toMatchObject({ stdout: "end", exit_code: 0 });
  });

  test("bash takes the input for no connection from elsewhere, whose start-up file it would run", async () => {
    const { start, write, readUntil } = tools({ shell: "bash" });
    const home = temporaryFolder("toolcrib-input");
    writeFileSync(join(home, ".bashrc"), "echo started");
    const id = await start('read -r line; echo "<$line>"', { input: true, env: { HOME: home, SHLVL: "0" } });
    await write(id, "a\n");
    expect((await readUntil(id)).stdout).toBe("<a>\n");
  });

  test("the largest text arrives whole, and a longer one is refused", async () => {
    const { start, say, write, readUntil } = tools();
    const id = await start("wc -c");
    const text = "é".repeat(32_768);
    expect(await say(id, { text: `${text}a` })).toContain("text: has 65537 bytes, at most 65536 fit");
    for (let index = 0; index < 20; index += 1) await write(id, text);
    await write(id, "", true).catch(() => {});
    expect((await readUntil(id, "1310720")).stdout.trim()).toBe("1310720");
  });

  test("for a program that never reads a bounded amount waits, and it can be stopped", async () => {
    const { registry, start, say } = tools();
    const id = await start("sleep 60");
    let waiting = 0;
    let refused = "";
    for (let index = 0; index < 20 && refused === ""; index += 1) {
      const answer = await say(id, { text: "x".repeat(65_536) });
      if (answer.startsWith("Error")) refused = answer;
      else ({ waiting } = JSON.parse(answer) as Written);
    }
    expect(waiting).toBeGreaterThan(0);
    expect(waiting).toBeLessThanOrEqual(262_144);
    expect(refused).toContain(`Not written: the command has not read ${waiting} bytes that wait for it`);
    expect(await registry.execute("stop_command", { id })).toContain('"exit_code":137');
    expect(await say(id, { text: "x" })).toContain("Not written: the command has ended with exit code 137");
  });

  test("a program that closes its input says so at the next write", async () => {
    const { start, say, readUntil } = tools();
    const id = await start("exec <&-; echo closed; sleep 60");
    await readUntil(id, "closed");
    expect(await say(id, { text: "x" })).toBe(
      "Error executing write_input: Not written: the command has closed its input; the text, or a part of it, was not read",
    );
    expect(await say(id, { text: "x" })).toContain("its input is closed already");
  });

  test("a command that was started without input, also by a runner of the caller's own, says what to do", async () => {
    const { start, say, readUntil } = tools();
    const id = await start("cat; sleep 60", {});
    expect(await say(id, { text: "x" })).toContain("was closed from its start; start it with input: true");
    expect((await readUntil(await start("cat; echo end", { input: false }), "end")).stdout).toBe("end\n");
    const own = tools({ runner: ({ onInput: _, ...request }) => runShell(request) });
    expect(await own.say(await own.start("sleep 60"), { text: "x" })).toContain("was closed from its start");
  });

  test.each<[Record<string, unknown>, string]>([
    [{ id: "job-1", text: "x" }, 'id: no background command has the id "job-1"'],
    [{}, "text: is empty; pass text, or close: true"],
    [{ text: "", close: false }, "text: is empty"],
    [{ text: "a\ud800" }, "text: holds half a character"],
    [{ text: { a: 1 } }, "text"],
    [{ text: "x", newline: true }, "newline"],
  ])("%j is refused", async (args, words) => {
    const { registry, start } = tools();
    const answer = await registry.execute("write_input", { id: await start("cat"), ...args });
    expect(answer).toContain(`Error executing write_input: Invalid arguments: ${words}`);
  });

  test("an abort before it writes nothing, and one during it does not take it back", async () => {
    const { registry, start, write, readUntil } = tools();
    const id = await start("cat");
    const early = await registry.execute("write_input", { id, text: "early" }, { signal: AbortSignal.abort() });
    expect(early).toContain("Error executing write_input: ");
    const abort = new AbortController();
    registry.use((call, next) => {
      if (call.name === "write_input") queueMicrotask(() => abort.abort());
      return next();
    });
    await registry.execute("write_input", { id, text: "during" }, { signal: abort.signal });
    await write(id, "late", true);
    expect((await readUntil(id, "late")).stdout).toMatch(/^(?:during)?late$/);
  });
});

describe("what a guard sees", () => {
  test("an execution with the text, the command that gets it, its place and how it is confined", async () => {
    const { registry, start } = tools({ scrubEnv: true });
    const id = await start("cat | sh");
    const tool = registry.get("write_input") as ExecutableTool;
    expect(await tool.effects?.({ id, text: "rm -rf x\n" })).toEqual([
      {
        kind: "execute",
        input: "rm -rf x\n",
        into: "cat | sh",
        cwd: folder,
        confinement: "background; open input; scrubEnv",
      },
    ]);
    expect(await tool.effects?.({ id, close: true })).toMatchObject([{ kind: "execute", input: "" }]);
    expect(() => tool.effects?.({ id: "job-1", text: "x" })).toThrow("no background command");
    expect(() => tool.effects?.({ id })).toThrow("text: is empty");
  });

  test("an open input is another way to run a command", async () => {
    const { registry } = tools();
    const tool = registry.get("run_bash") as ExecutableTool;
    const confinementOf = async (args: object): Promise<unknown> =>
      (await tool.effects?.({ command: "sh", ...args }))?.[0]?.confinement;
    expect(await confinementOf({ background: true, input: true })).toBe("background; open input");
    expect(await confinementOf({ background: true })).toBe("background");
  });
});

const suite = createBackgroundJobs();
const suiteTools = createBashTools({ cwd: folder, background: suite, input: true });
afterAll(() => {
  suite.end();
});

testTool(test, {
  create: () => suiteTools[3] as ExecutableTool,
  async validArgs() {
    const command = { command: "cat >/dev/null", background: true, input: true };
    for (const { id, running } of suite.list()) if (running) await suite.stop(id);
    const { id } = JSON.parse((await suiteTools[0]?.execute(command)) ?? "") as { id: string };
    return { id, text: "x\n" };
  },
});
