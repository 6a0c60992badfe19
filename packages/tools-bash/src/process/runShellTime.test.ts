import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { HeadTailBuffer } from "./headTailBuffer.ts";
import { runProgram } from "./runProgram.ts";
import type { ShellResult } from "./shellRequest.ts";

/*
 * What depends on time, with real processes and a clock that stands still unless the test moves it. The clock of a busy machine
 * proves nothing.
 */

const onLinux = process.platform === "linux";
let folder: string;
let serial = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolcrib-time-"));
});

afterAll(() => rm(folder, { recursive: true }));

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
}

function newFile(): string {
  serial += 1;
  return join(folder, String(serial));
}

interface Call {
  readonly result: Promise<ShellResult>;
  readonly settled: () => boolean;
  /** The shell's process id, as the command wrote it. */
  readonly pid: () => number | undefined;
}

function start(command: string, timeoutMs: number, signal?: AbortSignal): Call {
  const file = newFile();
  const mark = crypto.randomUUID();
  const result = runProgram({
    file: "/bin/sh",
    args: ["-c", `echo $$ > ${file}; ${command}`],
    cwd: folder,
    env: { ...process.env, MARK: mark },
    mark,
    timeoutMs,
    signal,
  });
  let isSettled = false;
  const settle = (): void => {
    isSettled = true;
  };
  result.then(settle, settle);
  const pid = (): number | undefined => (existsSync(file) && Number(readFileSync(file, "utf8"))) || undefined;
  return { result, settled: () => isSettled, pid };
}

/** The letter of a process's state; undefined after it was reaped. */
function stateOf(pid: number): string | undefined {
  try {
    return /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, "latin1"))?.[1];
  } catch {
    return undefined;
  }
}

/** Resolves when this process knows that the shell has ended. */
async function exited({ pid }: Call): Promise<void> {
  for (;;) {
    const id = pid();
    if (id !== undefined && stateOf(id) === undefined) return;
    await nextTurn();
  }
}

describe.runIf(onLinux)("while the event loop is blocked", () => {
  test("an exit past the limit counts as an exit", async () => {
    const limitMs = 50;
    const call = start("echo done", limitMs);
    // The loop has not turned since the start: the exit and the limit are both waiting when it does.
    const due = performance.now() + 2 * limitMs;
    for (let pid: number | undefined; pid === undefined || stateOf(pid) !== "Z" || performance.now() < due; ) {
      pid = call.pid();
    }
    expect(await call.result).toMatchObject({ stdout: "done\n", exitCode: 0 });
  });

  test("output that comes after the exit is complete", async () => {
    const [go, late] = [newFile(), newFile()];
    const call = start(`(while [ ! -e ${go} ]; do :; done; echo late; touch ${late}) & echo early`, 100_000);
    await exited(call);
    // The pause for more output has begun; it is over when the loop turns again, and timers come before input.
    writeFileSync(go, "");
    while (!existsSync(late));
    const over = performance.now() + 300;
    while (performance.now() < over);
    expect((await call.result).stdout).toBe("early\nlate\n");
  });
});

describe.runIf(onLinux)("a background child that holds the output open", () => {
  /** Prints what is written to a file, line by line, until it is killed. */
  async function chatter(
    exitCode: number,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<Call & { line: () => Promise<void> }> {
    const pushed = vi.spyOn(HeadTailBuffer.prototype, "push");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const input = newFile();
    writeFileSync(input, "");
    const call = start(`tail -n +1 -s 0.01 -f ${input} & exit ${exitCode}`, timeoutMs, signal);
    await exited(call);
    await nextTurn();
    return {
      ...call,
      async line() {
        const before = pushed.mock.calls.length;
        appendFileSync(input, "line\n");
        while (pushed.mock.calls.length === before) await nextTurn();
      },
    };
  }

  function end({ running }: ShellResult): void {
    for (const { pid } of running) process.kill(pid, "SIGKILL");
  }

  test("is waited for while it prints, for 2 s", async () => {
    const call = await chatter(4, 100_000);
    for (let passed = 100; passed < 2000; passed += 100) {
      await call.line();
      await pass(100);
      expect([passed, call.settled()]).toEqual([passed, false]);
    }
    await call.line();
    await pass(100);
    expect(call.settled()).toBe(true);
    const result = await call.result;
    end(result);
    expect(result).toMatchObject({ stdout: "line\n".repeat(20), exitCode: 4, running: [expect.anything()] });
  });

  test("is not waited for once it has printed nothing for 100 ms", async () => {
    const call = await chatter(0, 100_000);
    await call.line();
    await pass(99);
    expect(call.settled()).toBe(false);
    // What has come since the last look counts as printing.
    await pass(1);
    await pass(99);
    expect(call.settled()).toBe(false);
    await pass(1);
    expect(call.settled()).toBe(true);
    end(await call.result);
  });

  test("does not extend the call past its limit", async () => {
    const call = await chatter(5, 450);
    for (const passed of [100, 200, 300, 400]) {
      await call.line();
      await pass(100);
      expect([passed, call.settled()]).toEqual([passed, false]);
    }
    await call.line();
    await pass(50);
    expect(call.settled()).toBe(true);
    const result = await call.result;
    end(result);
    expect(result.exitCode).toBe(5);
  });

  test("is killed by an abort during the wait", async () => {
    const controller = new AbortController();
    const call = await chatter(0, 100_000, controller.signal);
    expect(call.settled()).toBe(false);
    vi.useRealTimers();
    controller.abort();
    await expect(call.result).rejects.toMatchObject({ code: "aborted" });
    expect(spawnSync("ps", ["-eo", "args"], { encoding: "utf8" }).stdout).not.toContain(`${folder}/`);
  });
});

test.runIf(onLinux)(
  "a process that cannot be found and holds the output open delays a call by half a second past the limit",
  async () => {
    const hidden = newFile();
    const shown = `env -i setsid sh -c 'echo $$ > ${hidden}; exec sleep 600' &`;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    // Its parent is gone when the limit comes, so that it does not even descend from the command.
    const call = start(`(${shown}); sleep 600`, 50);
    while (!existsSync(hidden) || readFileSync(hidden, "utf8") === "") await nextTurn();
    await pass(50);
    for (let passed = 0; passed < 400; passed += 10) {
      await pass(10);
      expect([passed, call.settled()]).toEqual([passed, false]);
    }
    // The process lives on. Between the pauses processes are looked up, which takes no time of this clock, so no count of passes suffices.
    while (!call.settled()) await pass(10);
    process.kill(Number(readFileSync(hidden, "utf8")), "SIGKILL");
    expect((await call.result).exitCode).toBe(-1);
  },
);

test("a command that has ended leaves no timer behind", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const call = start("echo heron", 60_000);
  while (!call.settled()) await nextTurn();
  expect((await call.result).stdout).toBe("heron\n");
  expect(vi.getTimerCount()).toBe(0);
});
