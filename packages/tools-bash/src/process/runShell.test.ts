import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  type Answer,
  answerOf,
  passLimit,
  run as runIn,
  sharedFolder,
  uniqueSleep,
  withArgument,
} from "../../fixtures/commands.ts";
import { createRunBashTool } from "../runBash.ts";
import { describeProcess } from "./processes.ts";
import { runShell } from "./runShell.ts";

/* Through the tool, with real processes. A command that should be gone is looked for by an argument that only it has. */

const onLinux = process.platform === "linux";
const folder = sharedFolder("shell");
const run = (command: string, args = {}): Promise<Answer> => runIn(command, args, { cwd: folder });

function killAll(argument: string): void {
  for (const pid of withArgument(argument)) process.kill(pid, "SIGKILL");
}

test("standard input is closed: a command that reads it gets the end at once", async () => {
  expect(await run("cat; read line; echo $?")).toEqual({ stdout: "1\n", stderr: "", exit_code: 0 });
});

test.each([
  ["exit 255", 255],
  ["nosuchcommand_ 2>&-", 127],
  ["kill -TERM $$", 143],
  ["kill -KILL $$", 137],
  ["kill -INT $$", 130],
  ["kill -SEGV $$", 139],
  ["sh -c 'kill -9 $$' 2>&-; exit $?", 137],
])("the exit code of `%s` is %i, and no time limit", async (command, code) => {
  expect(await run(command)).toEqual({ stdout: "", stderr: "", exit_code: code });
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
  // How many processes of it sleep before the limit comes.
  test.each<[string, number, (argument: string) => string]>([
    ["children that ignore signals", 2, (argument) => `trap '' TERM INT HUP; sleep ${argument} & sleep ${argument}; :`],
    ["setsid", 2, (argument) => `setsid sleep ${argument} & setsid -f sleep ${argument}; sleep 60`],
    ["a double fork", 1, (argument) => `(setsid sh -c 'sleep ${argument} & exit' &) ; sleep 60`],
    ["a nested shell with a cleared environment", 1, (argument) => `env -i setsid sh -c 'sleep ${argument}; :'; :`],
    ["an orphan with a cleared environment", 1, (argument) => `(env -i sleep ${argument} &) ; sleep 60`],
    ["many", 8, (argument) => `for i in 1 2 3 4 5 6 7 8; do (setsid sleep ${argument} &); done; sleep 60`],
  ])("is killed at the limit: %s", async (_, count, command) => {
    const argument = uniqueSleep();
    const { stderr, exit_code } = await passLimit(
      () => run(command(argument), { timeout: 400 }),
      () => withArgument(argument).length === count,
    );
    expect([stderr, exit_code]).toEqual(["[timed out after 400 ms]", -1]);
    expect(withArgument(argument)).toEqual([]);
  });

  test("is killed on abort, and the call fails as aborted, but that of another call is left alone", async () => {
    const [argument, another] = [uniqueSleep(), uniqueSleep()];
    const other = run(`sleep ${another}`);
    const controller = new AbortController();
    const running = createRunBashTool().execute(
      { command: `setsid sleep ${argument} & sleep ${argument}` },
      { signal: controller.signal },
    );
    await expect.poll(() => [argument, argument, another].map((one) => withArgument(one).length)).toEqual([2, 2, 1]);
    controller.abort(new Error("enough"));
    await expect(running).rejects.toMatchObject({
      ...{ code: "aborted", toolName: "run_bash", details: { reason: new Error("enough") } },
    });
    expect([argument, another].map((one) => withArgument(one).length)).toEqual([0, 1]);
    killAll(another);
    expect((await other).exit_code).toBe(137);
  });
});

describe.runIf(onLinux)("a background child", () => {
  test("does not block the call, keeps running, and is named: one that holds the pipe, and one that left the group", async () => {
    const [held, escaped] = [uniqueSleep(), uniqueSleep()];
    const started = 'until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done';
    const answer = await run(
      `setsid sleep ${escaped} >/dev/null 2>&1 & ${started}; sleep ${held} & ${started}; echo started; echo warn >&2`,
    );
    const named = [escaped, held].map((argument) => `${withArgument(argument)} (sleep ${argument})`);
    for (const argument of [held, escaped]) killAll(argument);
    expect(answer).toEqual({
      stdout: "started\n",
      stderr: `warn\n[still running in the background: ${named.join(", ")}]`,
      exit_code: 0,
    });
  });

  test("is named by whole characters", () => {
    const child = spawn("sleep", ["60"], { argv0: `${"x".repeat(59)}😀`, stdio: "ignore" });
    const { command } = describeProcess(child.pid as number);
    child.kill();
    expect(command).toBe(`${"x".repeat(59)}…`);
  });

  test("survives writing to its pipe after the call, however much", async () => {
    const [go, alive] = [join(folder, "go"), join(folder, "alive")];
    const answer = await run(
      `(until test -e ${go}; do sleep 0.02; done; seq 1 60000; seq 1 60000 >&2; touch ${alive}) & echo started`,
    );
    expect(answer.stdout).toBe("started\n");
    await run(`touch ${go}`);
    await expect.poll(() => existsSync(alive)).toBe(true);
  });

  test("that has ended by itself is not named", async () => {
    const ended = 'while grep -q "^State:.[RSD]" /proc/$(cat orphan)/status 2>/dev/null; do :; done';
    expect((await run(`true & wait; (sleep 0.05 & echo $! > orphan); ${ended}`)).stderr).toBe("");
  });
});

test("a shell that cannot be started is an error in plain words, and the next call works", async () => {
  const tool = createRunBashTool({ runner: (request) => runShell({ ...request, file: join(folder, "no-shell") }) });
  await expect(answerOf(tool, "true")).rejects.toMatchObject({
    code: "execution_failed",
    message: expect.stringContaining("ENOENT") as string,
  });
  expect((await run("echo fine")).stdout).toBe("fine\n");
});
