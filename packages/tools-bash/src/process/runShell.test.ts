import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRunBashTool } from "../runBash.ts";

/*
 * Through the tool, with real processes. A command that should be gone is looked for by an argument that only it has.
 */

const onLinux = process.platform === "linux";
let folder: string;
let serial = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolcrib-shell-"));
});

afterAll(() => rm(folder, { recursive: true }));

interface Answer {
  stdout: string;
  stderr: string;
  exit_code: number;
}

async function run(command: string, args: Record<string, unknown> = {}, signal?: AbortSignal): Promise<Answer> {
  return JSON.parse(await createRunBashTool({ cwd: folder }).execute({ command, ...args }, { signal })) as Answer;
}

/** A number of seconds that no other process sleeps, to find this one by. */
function uniqueSleep(): string {
  serial += 1;
  return `${4000 + serial}.${process.pid}`;
}

/** Processes, except zombies, with this argument. */
function withArgument(argument: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(argument);
      } catch {
        return false;
      }
    })
    .map(Number);
}

function killAll(argument: string): void {
  for (const pid of withArgument(argument)) process.kill(pid, "SIGKILL");
}

describe("standard input", () => {
  test("is closed: a command that reads it gets the end at once", async () => {
    expect(await run("cat; read line; echo $?")).toEqual({ stdout: "1\n", stderr: "", exit_code: 0 });
  });
});

describe("exit codes", () => {
  test.each([
    ["exit 0", 0],
    ["exit 255", 255],
    ["nosuchcommand_", 127],
    ["kill -TERM $$", 143],
    ["kill -KILL $$", 137],
    ["kill -INT $$", 130],
    ["kill -SEGV $$", 139],
    ["sh -c 'kill -9 $$'; exit $?", 137],
  ])("of `%s` is %i", async (command, code) => {
    expect((await run(command)).exit_code).toBe(code);
  });

  test("a killed shell is not reported as a time limit", async () => {
    const answer = await run("kill -KILL $$", { timeout: 5000 });
    expect(answer).toEqual({ stdout: "", stderr: "", exit_code: 137 });
  });
});

describe("output", () => {
  test("over 50 KB keeps head and tail with a marker and a notice, on each stream by itself", async () => {
    const { stdout, stderr } = await run("seq 1 100000; seq 200001 300000 >&2");
    for (const [text, first, last] of [
      [stdout, "1", "100000"],
      [stderr, "200001", "300000"],
    ] as const) {
      expect(text.startsWith(`${first}\n`)).toBe(true);
      expect(text).toMatch(/\n\[… \d+ bytes left out …\]\n/);
      expect(text).toMatch(new RegExp(`\n${last}\n\n\\[truncated: shown \\d+ of \\d+ bytes\\]$`));
      expect(text.length).toBeLessThan(52_000);
    }
  });

  test("that is not UTF-8 is still text", async () => {
    expect((await run("printf 'a\\377\\000b'")).stdout).toBe("a\ufffd␀b");
  });
});

describe.runIf(onLinux)("the process tree", () => {
  test.each([
    ["a child", (argument: string) => `sleep ${argument}`],
    ["a background child", (argument: string) => `sleep ${argument} & sleep ${argument}`],
    ["one that ignores signals", (argument: string) => `trap '' TERM INT HUP; sleep ${argument}; sleep ${argument}`],
    ["setsid", (argument: string) => `setsid sleep ${argument} & setsid -f sleep ${argument}; sleep 60`],
    ["a double fork", (argument: string) => `(setsid sh -c 'sleep ${argument} & exit' &) ; sleep 60`],
    [
      "a nested shell with a cleared environment",
      (argument: string) => `env -i setsid sh -c 'sleep ${argument}; :'; :`,
    ],
    ["an orphan with a cleared environment", (argument: string) => `(env -i sleep ${argument} &) ; sleep 60`],
    ["many", (argument: string) => `for i in 1 2 3 4 5 6 7 8; do (setsid sleep ${argument} &); done; sleep 60`],
  ])("is killed at the limit: %s", async (_, command) => {
    const argument = uniqueSleep();
    const answer = await run(command(argument), { timeout: 400 });
    expect(answer.stderr).toBe("[timed out after 400 ms]");
    expect(withArgument(argument)).toEqual([]);
  });

  test("is killed on abort, and the call fails as aborted", async () => {
    const argument = uniqueSleep();
    const controller = new AbortController();
    const running = run(`setsid sleep ${argument} & sleep ${argument}`, {}, controller.signal);
    await expect.poll(() => withArgument(argument).length).toBe(2);
    controller.abort(new Error("enough"));
    await expect(running).rejects.toMatchObject({ code: "aborted", details: { reason: new Error("enough") } });
    expect(withArgument(argument)).toEqual([]);
  });

  test("of another call is left alone", async () => {
    const argument = uniqueSleep();
    const other = run(`sleep ${argument}`, { timeout: 100_000 });
    await expect.poll(() => withArgument(argument)).toHaveLength(1);
    await run("sleep 60", { timeout: 200 });
    expect(withArgument(argument)).toHaveLength(1);
    killAll(argument);
    expect((await other).exit_code).toBe(137);
  });
});

describe.runIf(onLinux)("a background child", () => {
  test("that holds the pipe does not block the call, keeps running, and is named", async () => {
    const argument = uniqueSleep();
    const answer = await run(`sleep ${argument} & echo started`);
    const [pid] = withArgument(argument);
    killAll(argument);
    expect(answer).toEqual({
      stdout: "started\n",
      stderr: `[still running in the background: ${pid} (sleep ${argument})]`,
      exit_code: 0,
    });
  });

  test("that holds no pipe and left the process group is named too", async () => {
    const argument = uniqueSleep();
    const started = 'until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done';
    const { stderr } = await run(`setsid sleep ${argument} >/dev/null 2>&1 & ${started}; echo warn >&2`);
    const [pid] = withArgument(argument);
    killAll(argument);
    expect(stderr).toBe(`warn\n[still running in the background: ${pid} (sleep ${argument})]`);
  });

  test("survives writing to its pipe after the call, however much", async () => {
    const file = join(folder, "survived");
    const answer = await run(`(sleep 0.4; seq 1 60000; seq 1 60000 >&2; echo alive > ${file}) & echo started`);
    expect(answer.stdout).toBe("started\n");
    await expect.poll(() => readFile(file, "utf8").catch(() => "")).toBe("alive\n");
  });

  test("that has ended by itself is not named", async () => {
    const ended = 'while grep -q "^State:.[RSD]" /proc/$(cat orphan)/status 2>/dev/null; do :; done';
    expect((await run(`true & wait; (sleep 0.05 & echo $! > orphan); ${ended}`)).stderr).toBe("");
  });
});

describe("starting", () => {
  test("fails in plain words when the shell cannot be started, and the next call works", async () => {
    const tool = createRunBashTool({
      runner: async (request) => {
        const { runShell } = await import("./runShell.ts");
        return runShell({ ...request, file: join(folder, "no-shell") });
      },
    });
    await expect(tool.execute({ command: "true" })).rejects.toMatchObject({
      code: "execution_failed",
      message: expect.stringContaining("ENOENT") as string,
    });
    expect((await run("echo fine")).stdout).toBe("fine\n");
  });
});
