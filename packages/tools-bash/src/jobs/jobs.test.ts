import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecutableTool } from "@toolcrib/core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createBashTools } from "../bash.ts";
import { type BashToolOptions, sandboxProblem } from "../bashOptions.ts";
import { createLeftovers } from "../process/leftovers.ts";
import { runShell, type ShellRunner } from "../process/runShell.ts";
import { createRunBashTool } from "../runBash.ts";
import { type BackgroundJobs, createBackgroundJobs, mostRunning } from "./backgroundJobs.ts";

const works = (await sandboxProblem({ cwd: import.meta.dirname })) === undefined;
let folder: string;
let serial = 0;
let jobs: BackgroundJobs;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "toolcrib-jobs-")));
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(() => {
  jobs?.end();
});

interface Started {
  id: string;
  pid: number;
}

interface Reading {
  running: boolean;
  exit_code: number | null;
  stdout: string;
  stderr: string;
}

interface Tools {
  start: (command: string, args?: Record<string, unknown>) => Promise<Started>;
  read: (id: string, wait?: number, signal?: AbortSignal) => Promise<Reading>;
  stop: (id: string) => Promise<Reading>;
  all: ExecutableTool[];
}

function toolsWith(options: BashToolOptions = {}): Tools {
  jobs = createBackgroundJobs();
  const all = createBashTools({ cwd: folder, background: jobs, ...options });
  const [run, read, stop] = all as [ExecutableTool, ExecutableTool, ExecutableTool];
  const parse = async <Value>(answer: Promise<string>): Promise<Value> => JSON.parse(await answer) as Value;
  return {
    all,
    start: (command, args = {}) => parse(run.execute({ command, background: true, ...args })),
    read: (id, wait, signal) => parse(read.execute({ id, wait }, { signal })),
    stop: (id) => parse(stop.execute({ id })),
  };
}

/** Readings until the command has ended, joined. */
async function readAll({ read }: Tools, id: string): Promise<Reading> {
  let joined = { stdout: "", stderr: "" };
  for (;;) {
    const reading = await read(id, 60_000);
    joined = { stdout: joined.stdout + reading.stdout, stderr: joined.stderr + reading.stderr };
    if (!reading.running) return { ...reading, ...joined };
  }
}

function uniqueSleep(): string {
  serial += 1;
  return `${7000 + serial}.${process.pid}`;
}

function isRunning(argument: string): boolean {
  return readdirSync("/proc").some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(argument);
    } catch {
      return false;
    }
  });
}

/** What this process holds open. */
function openPaths(): string[] {
  return readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)];
    } catch {
      return [];
    }
  });
}

describe("a command in the background", () => {
  test("is answered with its id and process while it runs, and its output can be read meanwhile", async () => {
    const tools = toolsWith();
    const { id, pid } = await tools.start("mkfifo go; echo one; read line < go; echo $line; echo warn >&2; exit 3");
    expect(jobs.list()).toMatchObject([{ id, pid, running: true, exitCode: null, cwd: folder }]);
    expect(await tools.read(id, 60_000)).toEqual({ running: true, exit_code: null, stdout: "one\n", stderr: "" });
    expect(await tools.read(id)).toEqual({ running: true, exit_code: null, stdout: "", stderr: "" });
    await createRunBashTool({ cwd: folder }).execute({ command: "echo two > go" });
    expect(await readAll(tools, id)).toEqual({ running: false, exit_code: 3, stdout: "two\n", stderr: "warn\n" });
    expect(await tools.read(id)).toEqual({ running: false, exit_code: 3, stdout: "", stderr: "" });
    expect(jobs.list()).toMatchObject([{ id, running: false, exitCode: 3 }]);
  });

  test("answers a read that waits as soon as output comes, and an aborted read loses nothing", async () => {
    const tools = toolsWith();
    const { id } = await tools.start("until test -e on; do sleep 0.05; done; echo late; sleep 600");
    const aborted = new AbortController();
    const reading = tools.read(id, 600_000, aborted.signal);
    aborted.abort();
    await expect(reading).rejects.toMatchObject({ code: "aborted" });
    await expect(tools.read(id, 600_000, AbortSignal.abort())).rejects.toMatchObject({ code: "aborted" });
    const both = [tools.read(id, 600_000), tools.read(id, 600_000)];
    writeFileSync(join(folder, "on"), "");
    expect((await Promise.all(both)).map(({ stdout }) => stdout).sort()).toEqual(["", "late\n"]);
  });

  test("keeps the head and the tail of unread output, and a read never cuts a character", async () => {
    const tools = toolsWith();
    const { id } = await tools.start("head -c 3000000 /dev/zero | tr '\\0' x; printf 'end\\n'");
    const { stdout, exit_code } = await readAll(tools, id);
    expect(stdout).toMatch(/^x{1000}/);
    expect(stdout).toMatch(/end\n\n\[truncated: shown \d+ of 3000004 bytes\]$/);
    expect([exit_code, stdout.length < 60_000]).toEqual([0, true]);
    const euro = await tools.start("printf '\\342\\202'; sleep 0.7; printf '\\254'; sleep 0.7; printf '\\342'");
    expect((await readAll(tools, euro.id)).stdout).toBe("€\ufffd");
  });

  test("has the time limit of the call, else the longest possible one", async () => {
    const tools = toolsWith({ timeoutMs: 50 });
    const [short, long] = [await tools.start("echo kept; sleep 600", { timeout: 3000 }), await tools.start("sleep 1")];
    expect(await readAll(tools, short.id)).toEqual({
      running: false,
      exit_code: -1,
      stdout: "kept\n",
      stderr: "[timed out after 3000 ms]",
    });
    expect(await readAll(tools, long.id)).toMatchObject({ exit_code: 0, stderr: "" });
    const bounded = toolsWith({ maxTimeoutMs: 200 });
    expect(await readAll(bounded, (await bounded.start("sleep 600")).id)).toMatchObject({ exit_code: -1 });
  });

  test("is stopped with everything that it started, also what its shell left behind, and stopping again is fine", async () => {
    const tools = toolsWith();
    const [one, two, three] = [uniqueSleep(), uniqueSleep(), uniqueSleep()];
    const { id } = await tools.start(`sleep ${one} & setsid sh -c 'sleep ${two} & sleep ${two}' & echo on; wait`);
    expect((await tools.read(id, 60_000)).stdout).toBe("on\n");
    // The shells may not have started them yet.
    await expect.poll(() => [isRunning(one), isRunning(two)]).toEqual([true, true]);
    expect(await tools.stop(id)).toEqual({ running: false, exit_code: 137, stdout: "", stderr: "" });
    expect([isRunning(one), isRunning(two)]).toEqual([false, false]);
    expect(await tools.stop(id)).toMatchObject({ running: false, exit_code: 137 });
    const left = await tools.start(`setsid sleep ${three} >/dev/null 2>&1 & exit 4`);
    expect(await readAll(tools, left.id)).toMatchObject({
      exit_code: 4,
      stderr: expect.stringContaining("still running in the background") as string,
    });
    await expect.poll(() => isRunning(three)).toBe(true);
    await tools.stop(left.id);
    await expect.poll(() => isRunning(three)).toBe(false);
  });

  test("that cannot be started is an error, and is not remembered", async () => {
    const path = process.env.PATH;
    const { start, all } = toolsWith();
    const signal = AbortSignal.abort();
    await expect(all[0]?.execute({ command: "true", background: true }, { signal })).rejects.toThrow("nothing was run");
    await expect(start("true", { cwd: "missing" })).rejects.toMatchObject({ code: "invalid_arguments" });
    await expect(start(`: ${"x".repeat(4_000_000)}`)).rejects.toThrow("put the data into a file");
    process.env.PATH = "";
    try {
      await expect(toolsWith({ sandbox: true }).start("true")).rejects.toThrow("Nothing was run");
    } finally {
      process.env.PATH = path;
    }
    expect(jobs.list()).toEqual([]);
  });

  test("is refused while too many run, and those that have ended are forgotten in time", async () => {
    const tools = toolsWith();
    const ids: string[] = [];
    for (let index = 0; index < mostRunning; index += 1) ids.push((await tools.start("sleep 600")).id);
    await expect(tools.start("true")).rejects.toMatchObject({
      code: "execution_failed",
      recoverable: true,
      message: "16 commands already run in the background; stop one first",
    });
    expect(new Set(ids).size).toBe(mostRunning);
    await tools.stop(ids[0] ?? "");
    for (let index = 0; index < 40; index += 1) await readAll(tools, (await tools.start("true")).id);
    expect(jobs.list()).toHaveLength(32);
    expect(jobs.list().filter(({ running }) => running)).toHaveLength(mostRunning - 1);
    await expect(tools.read(ids[0] ?? "")).rejects.toThrow("no background command has the id");
  });

  test.runIf(works)("runs in the sandbox if there is one, and leaves nothing behind", async () => {
    const tools = toolsWith({ root: folder, sandbox: true, deny: [".env"] });
    const sleep = uniqueSleep();
    const { id } = await tools.start(
      `echo secret > .env; touch in; touch /etc/x; setsid sleep ${sleep} & echo on; wait`,
    );
    // Either stream may come first.
    let [stdout, stderr] = ["", ""];
    while (!stdout.includes("on\n") || !stderr.includes("Read-only")) {
      const reading = await tools.read(id, 60_000);
      expect(reading.running).toBe(true);
      [stdout, stderr] = [stdout + reading.stdout, stderr + reading.stderr];
    }
    expect(openPaths().filter((path) => path.startsWith(folder))).toEqual([]);
    const other = await tools.start("cat .env; sleep 0.1; exit 5");
    expect(await readAll(tools, other.id)).toMatchObject({ stdout: "", exit_code: 5 });
    await tools.stop(id);
    await expect.poll(() => isRunning(sleep)).toBe(false);
  });

  test("leaves no descriptor open when it has ended or was stopped", async () => {
    const tools = toolsWith();
    const round = async (): Promise<void> => {
      await readAll(tools, (await tools.start("echo done")).id);
      await tools.stop((await tools.start("sleep 600")).id);
    };
    await round();
    const before = openPaths().length;
    for (let index = 0; index < 10; index += 1) await round();
    expect(openPaths().length).toBeLessThanOrEqual(before);
  });

  test("ends with the leftovers of the program, and with its list of jobs", async () => {
    const leftovers = createLeftovers();
    const tools = toolsWith({ leftovers });
    const [one, two] = [uniqueSleep(), uniqueSleep()];
    await tools.start(`setsid sleep ${one}`);
    await expect.poll(() => isRunning(one)).toBe(true);
    expect(leftovers.end()).toBeGreaterThan(0);
    await expect.poll(() => isRunning(one)).toBe(false);
    await expect.poll(() => jobs.list().some(({ running }) => running)).toBe(false);
    const { id } = await tools.start(`env -i sleep ${two}; true`);
    await expect.poll(() => isRunning(two)).toBe(true);
    expect(await jobs.stop("nobody")).toBe(false);
    expect(jobs.end()).toBe(1);
    await expect.poll(() => isRunning(two)).toBe(false);
    expect(await jobs.stop(id)).toBe(true);
    expect(jobs.end()).toBe(0);
  });

  test("needs a runner that says when it has started", async () => {
    const silent: ShellRunner = ({ onStart: _, ...request }) => runShell(request);
    await expect(toolsWith({ runner: silent }).start("true")).rejects.toThrow("must call onStart");
    expect(jobs.list()).toEqual([]);
    const tools = toolsWith({ runner: runShell });
    expect(await readAll(tools, (await tools.start("echo told")).id)).toMatchObject({ stdout: "told\n" });
  });
});
