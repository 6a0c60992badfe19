import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ExecutableTool, ToolRegistry } from "@toolcrib/core";
import { testTool } from "@toolcrib/core/testing";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import {
  passLimit,
  type Reading,
  readJob,
  sharedFolder,
  startJob,
  uniqueSleep,
  withArgument,
} from "../../fixtures/commands.ts";
import { createBashTools } from "../bash.ts";
import type { BashToolOptions } from "../bashOptions.ts";
import { createLeftovers } from "../process/leftovers.ts";
import { runShell } from "../process/runShell.ts";
import type { ShellRunner } from "../process/shellRequest.ts";
import { StreamOutput } from "../process/streamOutput.ts";
import { createRunBashTool } from "../runBash.ts";
import { type BackgroundJobs, createBackgroundJobs, mostRunning } from "./backgroundJobs.ts";

const onLinux = process.platform === "linux";
const folder = sharedFolder("jobs");
let jobs: BackgroundJobs;
afterEach(() => {
  jobs?.end();
  vi.unstubAllEnvs();
});

interface Tools {
  all: ExecutableTool[];
  registry: ToolRegistry;
  start: (command: string, args?: object) => Promise<string>;
  read: (id: string, wait?: number, signal?: AbortSignal) => Promise<Reading>;
  readAll: (id: string) => Promise<Reading>;
  stop: (id: string) => Promise<Reading>;
}

/** The calls reject with the errors of the tools, as no registry is between. */
function toolsWith(options: BashToolOptions = {}): Tools {
  jobs = createBackgroundJobs();
  const all = createBashTools({ cwd: folder, background: jobs, ...options });
  const [run, read, stop] = all as [ExecutableTool, ExecutableTool, ExecutableTool];
  const registry = new ToolRegistry(all);
  return {
    all,
    registry,
    start: async (command, args = {}) => JSON.parse(await run.execute({ command, background: true, ...args })).id,
    read: async (id, wait, signal) => JSON.parse(await read.execute({ id, wait }, { signal })),
    readAll: (id) => readJob(registry, id),
    stop: async (id) => JSON.parse(await stop.execute({ id })),
  };
}

describe("the tools", () => {
  test("are three with the option, and without it only run_bash, without background", async () => {
    const names = createBashTools({ background: true }).map(({ name }) => name);
    expect(names).toEqual(["run_bash", "read_output", "stop_command"]);
    for (const background of [undefined, false]) {
      const tools = createBashTools({ background });
      expect(JSON.stringify(tools.map((tool) => tool.getSchema()))).not.toContain("background");
      const call = tools[0]?.execute({ command: "true", background: true });
      await expect(call).rejects.toMatchObject({ code: "invalid_arguments" });
    }
    for (const background of [null, "yes", 1, {}])
      expect(() => createBashTools({ background } as unknown as BashToolOptions)).toThrow(TypeError);
    expect(() => createRunBashTool({ background: true } as BashToolOptions)).toThrow('unknown option "background"');
  });

  test("name the known ids when one is unknown", async () => {
    const { registry } = toolsWith();
    expect(await registry.execute("read_output", { id: "job-1" })).toBe(
      'Error executing read_output: Invalid arguments: id: no background command has the id "job-1"; none was started, or this is another process',
    );
    const id = await startJob(registry, "true");
    expect(await registry.execute("stop_command", { id: "1" })).toContain(`; there are ${id}`);
    expect(await registry.execute("read_output", { id, wait: -1 })).toContain("wait: must be a number of milliseconds");
    expect(await registry.execute("read_output", {})).toContain("id: is required");
  });

  test("return their answers also as data", async () => {
    const { registry } = toolsWith();
    const id = await startJob(registry, "echo on");
    expect(await registry.invoke("read_output", { id, wait: 60_000 })).toMatchObject({ data: { stdout: "on\n" } });
    expect(await registry.invoke("stop_command", { id })).toMatchObject({ data: { running: false, stdout: "" } });
  });

  test("tell guards their effects", async () => {
    const { all, start } = toolsWith();
    const [run, read, stop] = all;
    const id = await start("sleep 600");
    expect(await run?.effects?.({ command: "true", background: true })).toEqual([
      { kind: "execute", command: "true", shell: "sh", cwd: folder, confinement: "background" },
    ]);
    expect([await read?.effects?.({ id }), await stop?.effects?.({ id })]).toEqual([[], []]);
    expect(() => read?.effects?.({ id: "other" })).toThrow("no background command");
    expect(() => stop?.effects?.({ id: 1 })).toThrow("id: is required");
  });

  test("ask the registry for as much time as the reading may wait", () => {
    const limit = toolsWith().all[1]?.timeoutMs as (args: Record<string, unknown>) => number;
    expect([limit({}), limit({ wait: 60_000 }), limit({ wait: "soon" })]).toEqual([5000, 65_000, 5000]);
  });
});

describe("a command in the background", () => {
  test("is answered with its id and process while it runs, and its output can be read meanwhile", async () => {
    const { start, read, readAll } = toolsWith();
    const id = await start("mkfifo go; echo one; read line < go; echo $line; echo warn >&2; exit 3");
    const pid = jobs.list()[0]?.pid;
    expect(jobs.list()).toMatchObject([{ id, running: true, exitCode: null, cwd: folder }]);
    expect(await read(id, 60_000)).toEqual({ running: true, exit_code: null, stdout: "one\n", stderr: "" });
    expect(await read(id)).toEqual({ running: true, exit_code: null, stdout: "", stderr: "" });
    if (onLinux) expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).toContain("mkfifo go");
    writeFileSync(join(folder, "go"), "two\n");
    expect(await readAll(id)).toEqual({ running: false, exit_code: 3, stdout: "two\n", stderr: "warn\n" });
    expect(await read(id)).toEqual({ running: false, exit_code: 3, stdout: "", stderr: "" });
    expect(jobs.list()).toMatchObject([{ id, running: false, exitCode: 3 }]);
  });

  test("answers a read that waits as soon as output comes, and an aborted read loses nothing", async () => {
    const { start, read } = toolsWith();
    const id = await start("until test -e on; do sleep 0.05; done; echo late; sleep 600");
    const aborted = new AbortController();
    const reading = read(id, 600_000, aborted.signal);
    aborted.abort();
    await expect(reading).rejects.toMatchObject({ code: "aborted" });
    await expect(read(id, 600_000, AbortSignal.abort())).rejects.toMatchObject({ code: "aborted" });
    const both = [read(id, 600_000), read(id, 600_000)];
    writeFileSync(join(folder, "on"), "");
    expect((await Promise.all(both)).map(({ stdout }) => stdout).sort()).toEqual(["", "late\n"]);
  });

  test("keeps the head and the tail of unread output", async () => {
    const { start, readAll } = toolsWith();
    const { stdout, exit_code } = await readAll(await start("head -c 3000000 /dev/zero | tr '\\0' x; printf 'end\\n'"));
    expect(stdout).toMatch(/^x{1000}/);
    expect(stdout).toMatch(/end\n\n\[truncated: shown \d+ of 3000004 bytes\]$/);
    expect([exit_code, stdout.length < 60_000]).toEqual([0, true]);
  });

  test("is read without a cut character", () => {
    const unread = new StreamOutput();
    const texts = [[0xe2, 0x82], [0xac], [0xe2]].map((bytes) => {
      unread.push(Uint8Array.from(bytes));
      return unread.take().shown;
    });
    unread.end();
    expect([...texts, unread.take().shown]).toEqual(["", "€", "", "\ufffd"]);
  });

  test("has the time limit of the call, else the longest possible one", async () => {
    const { start, read, readAll } = toolsWith({ timeoutMs: 50, maxTimeoutMs: 70_000 });
    const [short, long] = await passLimit(
      async () => {
        const ids = [await start("echo kept; touch kept; sleep 600", { timeout: 3000 }), await start("sleep 600")];
        await Promise.all(ids.map((id) => jobs.find(id).ended));
        return ids as [string, string];
      },
      () => existsSync(join(folder, "kept")),
    );
    expect(await readAll(short)).toEqual({
      running: false,
      exit_code: -1,
      stdout: "kept\n",
      stderr: "[timed out after 3000 ms]",
    });
    expect(await read(long)).toMatchObject({ exit_code: -1, stderr: "[timed out after 70000 ms]" });
  });

  test.runIf(onLinux)("is stopped with everything that it started, and stopping again is fine", async () => {
    const { start, read, readAll, stop } = toolsWith();
    const [one, two, three] = [uniqueSleep(), uniqueSleep(), uniqueSleep()];
    const running = (): boolean[] => [one, two, three].map((sleep) => withArgument(sleep).length > 0);
    const id = await start(`sleep ${one} & setsid sh -c 'sleep ${two} & sleep ${two}' & echo on; wait`);
    expect((await read(id, 60_000)).stdout).toBe("on\n");
    // The shells may not have started them yet.
    await expect.poll(running).toEqual([true, true, false]);
    expect(await stop(id)).toEqual({ running: false, exit_code: 137, stdout: "", stderr: "" });
    expect(running()).toEqual([false, false, false]);
    expect(await stop(id)).toMatchObject({ running: false, exit_code: 137 });
    const left = await start(`setsid sleep ${three} >/dev/null 2>&1 & exit 4`);
    const { exit_code, stderr } = await readAll(left);
    expect([exit_code, stderr]).toEqual([4, expect.stringContaining("still running in the background")]);
    await expect.poll(running).toEqual([false, false, true]);
    await stop(left);
    await expect.poll(running).toEqual([false, false, false]);
  });

  test("that cannot be started is an error, and is not remembered", async () => {
    const { start, all } = toolsWith();
    const signal = AbortSignal.abort();
    await expect(all[0]?.execute({ command: "true", background: true }, { signal })).rejects.toThrow("nothing was run");
    await expect(start("true", { cwd: "missing" })).rejects.toMatchObject({ code: "invalid_arguments" });
    await expect(start(`: ${"x".repeat(4_000_000)}`)).rejects.toThrow("put the data into a file");
    vi.stubEnv("PATH", "");
    await expect(toolsWith({ sandbox: true }).start("true")).rejects.toThrow("Nothing was run");
    expect(jobs.list()).toEqual([]);
  });

  test("is refused while too many run, and those that have ended are forgotten in time", async () => {
    const { start, stop, read } = toolsWith({ runner: (request) => standIn(request) });
    const ids: string[] = [];
    for (let index = 0; index < mostRunning; index += 1) ids.push(await start("wait"));
    await expect(start("true")).rejects.toMatchObject({
      code: "execution_failed",
      recoverable: true,
      message: "16 commands already run in the background; stop one first",
    });
    expect(new Set(ids).size).toBe(mostRunning);
    await stop(ids[0] ?? "");
    for (let index = 0; index < 40; index += 1) await read(await start("true"), 60_000);
    expect(jobs.list()).toHaveLength(32);
    expect(jobs.list().filter(({ running }) => running)).toHaveLength(mostRunning - 1);
    await expect(read(ids[0] ?? "")).rejects.toThrow("no background command has the id");
  });

  test.runIf(onLinux)("leaves no descriptor open when it has ended or was stopped", async () => {
    const { start, readAll, stop } = toolsWith();
    const round = async (): Promise<void> => {
      await readAll(await start("echo done"));
      await stop(await start("sleep 600"));
    };
    const open = (): number => readdirSync("/proc/self/fd").length;
    await round();
    const before = open();
    for (let index = 0; index < 5; index += 1) await round();
    expect(open()).toBeLessThanOrEqual(before);
  });

  test.runIf(onLinux)("ends with the leftovers of the program, and with its list of jobs", async () => {
    const leftovers = createLeftovers();
    const { start } = toolsWith({ leftovers });
    const [one, two] = [uniqueSleep(), uniqueSleep()];
    const running = (): boolean[] => [one, two].map((sleep) => withArgument(sleep).length > 0);
    await start(`setsid sleep ${one}`);
    await expect.poll(running).toEqual([true, false]);
    expect(leftovers.end()).toBeGreaterThan(0);
    await expect.poll(running).toEqual([false, false]);
    await expect.poll(() => jobs.list().some((job) => job.running)).toBe(false);
    const id = await start(`env -i sleep ${two}; true`);
    await expect.poll(running).toEqual([false, true]);
    expect(await jobs.stop("nobody")).toBe(false);
    expect(jobs.end()).toBe(1);
    await expect.poll(running).toEqual([false, false]);
    expect(await jobs.stop(id)).toBe(true);
    expect(jobs.end()).toBe(0);
  });

  test("needs a runner that says when it has started", async () => {
    const silent: ShellRunner = ({ onStart: _, ...request }) => runShell(request);
    await expect(toolsWith({ runner: silent }).start("true")).rejects.toThrow("must call onStart");
    expect(jobs.list()).toEqual([]);
    const { start, readAll } = toolsWith({ runner: (request) => runShell(request) });
    expect(await readAll(await start("echo told"))).toMatchObject({ stdout: "told\n" });
  });
});

/** A runner without processes: what is called `wait` runs until it is ended. */
const standIn: ShellRunner = ({ args, signal, onStart }) => {
  onStart?.(1_000_000_000);
  const end = { stdout: "", stderr: "", running: [] };
  if (args.at(-1) !== "wait") return Promise.resolve({ ...end, exitCode: 0 });
  return new Promise((resolve) => {
    signal?.addEventListener("abort", () => resolve({ ...end, exitCode: 137 }));
  });
};

const shared = createBackgroundJobs();
const three = createBashTools({ background: shared });
afterAll(() => void shared.end());
for (const tool of three.slice(1)) {
  testTool(test, {
    create: () => tool,
    validArgs: async () => ({ id: await startJob(new ToolRegistry(three), "echo on") }),
  });
}
