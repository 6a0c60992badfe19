import { describe, expect, test } from "vitest";
import { onLinux, run, survivors } from "./shellFixture.ts";

/*
 * Commands of kinds that have broken similar tools. Each must end within its limit and 1 s, return JSON of bounded size and
 * leave no process running.
 */

const limitMs = 1500;

const endless: readonly [string, string][] = [
  ["a busy loop", "while :; do :; done"],
  ["traps on everything", "trap '' TERM INT HUP QUIT USR1 PIPE; while :; do sleep 1; done"],
  ["a shell that stops itself", "kill -STOP $$; echo never"],
  ["both outputs closed", "exec >&- 2>&-; sleep 900"],
  ["an endless line", "yes | tr -d '\\n'"],
  ["NUL bytes without end", "cat /dev/zero"],
  ["random bytes without end", "cat /dev/urandom"],
  ["both streams without end", "yes & yes >&2"],
  ["200 daemons", "for i in $(seq 200); do setsid -f sleep 900; done; sleep 900"],
  [
    "a chain of daemons, each starting the next",
    'export RELAY=\'sleep 0.01; setsid -f sh -c "$RELAY"\'; sh -c "$RELAY"; sleep 900',
  ],
  [
    "three chains of daemons",
    'export RELAY=\'setsid -f sh -c "$RELAY"\'; for i in 1 2 3; do sh -c "$RELAY"; done; sleep 900',
  ],
  ["a stopped daemon", "setsid -f sh -c 'kill -STOP $$; sleep 900'; sleep 900"],
  ["co-processes that respawn each other", "r() { while :; do sleep 0.01 & wait; done; }; r & r & r & wait"],
  ["a reader of a FIFO that nobody writes", "f=$(mktemp -u); mkfifo $f; (sleep 1; rm $f) & cat $f"],
  ["deep nesting of shells", "n() { if [ $1 -gt 0 ]; then (n $(($1 - 1)); :); else sleep 900; fi; }; n 100"],
];

const ending: readonly [string, string, number][] = [
  ["a terminal that is not there", "cat /dev/tty 2>/dev/null || exit 9", 9],
  ["a question on standard input", "read answer; exit $?", 1],
  ["a syntax error", "if then (", 2],
  ["no command at all", ":", 0],
  ["a lone surrogate", "printf %s '\ud800' | wc -c >/dev/null", 0],
  ["10 MB in one line", "head -c 10000000 /dev/zero | tr '\\0' x", 0],
  ["control characters", "head -c 60000 /dev/zero", 0],
  ["100,000 characters of command", `: ${"x".repeat(100_000)}`, 0],
  ["a killed parent of a living child", "sh -c 'sleep 0.3 & kill -9 $$'; exit 6", 6],
  ["an environment cleared of everything", "exec env -i /bin/sh -c 'exit 8'", 8],
];

describe.runIf(onLinux)(`commands that are hard to end${onLinux ? "" : " (skipped: needs /proc)"}`, () => {
  test.each(endless)("%s: ended by the limit", async (_, command) => {
    const answer = await run(command, { timeout: limitMs });
    expect(answer.exit_code).toBe(-1);
    expect(answer.stderr).toMatch(new RegExp(`(^|\n)\\[timed out after ${limitMs} ms\\]$`));
    expect(JSON.stringify(answer).length).toBeLessThan(700_000);
    await expect.poll(() => survivors()).toEqual([]);
  });

  test.each(ending)("%s: ends by itself", async (_, command, code) => {
    const answer = await run(command, { timeout: 10_000 });
    expect(answer.exit_code).toBe(code);
    expect(JSON.stringify(answer).length).toBeLessThan(700_000);
    await expect.poll(() => survivors()).toEqual([]);
  });

  test("100 at once do not disturb each other", async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        index % 4 === 0 ? run("setsid -f sleep 900; sleep 900", { timeout: 500 }) : run(`sleep 0.2; echo ${index}`),
      ),
    );
    answers.forEach((answer, index) => {
      expect(answer.stdout).toBe(index % 4 === 0 ? "" : `${index}\n`);
      expect(answer.exit_code).toBe(index % 4 === 0 ? -1 : 0);
    });
    await expect.poll(() => survivors()).toEqual([]);
  });
});
