import { describe, expect, test } from "vitest";
import { onLinux, openDescriptors, rounds, run, survivors } from "./shellFixture.ts";

/** Full size: 1,000 limits and 10,000 commands. */
const limits = rounds;
const commands = rounds * 10;
const atOnce = 10;

async function inBatches(count: number, start: (index: number) => Promise<void>): Promise<void> {
  for (let first = 0; first < count; first += atOnce) {
    const batch = Array.from({ length: Math.min(atOnce, count - first) }, (_, index) => start(first + index));
    await Promise.all(batch);
  }
}

const trees = [
  "sleep 900 & sleep 900",
  "setsid sleep 900 & sleep 900",
  "setsid -f sleep 900; sleep 900",
  "(setsid sh -c 'sleep 900 & sleep 900' &) ; sleep 900",
  "setsid -f setsid -f sh -c 'trap \"\" TERM HUP; sleep 900; sleep 900' >/dev/null 2>&1; sleep 900",
  "env -i setsid sh -c 'sleep 900; :'; :",
];

describe.runIf(onLinux)(
  `leaks, ${limits} limits and ${commands} commands${onLinux ? "" : " (skipped: needs /proc)"}`,
  () => {
    test("no process is left after limits with setsid and double forks", async () => {
      let slowest = 0;
      await inBatches(limits, async (index) => {
        const started = performance.now();
        const answer = await run(trees[index % trees.length] as string, { timeout: 150 });
        slowest = Math.max(slowest, performance.now() - started);
        expect(answer).toEqual({ stdout: "", stderr: "[timed out after 150 ms]", exit_code: -1 });
      });
      await expect.poll(() => survivors()).toEqual([]);
      console.log(`${limits} limits: 0 processes left, slowest call ${Math.round(slowest)} ms (limit 150 ms)`);
    });

    test("no process is left after aborts", async () => {
      await inBatches(limits / 5, async (index) => {
        const running = run(trees[index % trees.length] as string, {}, AbortSignal.timeout(30 + (index % 5) * 20));
        await expect(running).rejects.toMatchObject({ code: "aborted" });
      });
      await expect.poll(() => survivors()).toEqual([]);
    });

    test("no descriptor is left after commands", async () => {
      await run("true");
      const before = openDescriptors();
      const started = performance.now();
      await inBatches(commands, async (index) => {
        expect((await run(`echo ${index}; exit ${index % 200}`)).exit_code).toBe(index % 200);
      });
      const took = performance.now() - started;
      await expect.poll(openDescriptors).toBeLessThanOrEqual(before);
      console.log(`${commands} commands in ${Math.round(took)} ms`);
      await expect.poll(() => survivors()).toEqual([]);
    });

    test("no descriptor is left after commands whose background children held a pipe for a while", async () => {
      const before = openDescriptors();
      await inBatches(limits / 5, async () => {
        expect((await run("sleep 0.5 & echo started")).stdout).toBe("started\n");
      });
      await expect.poll(openDescriptors).toBeLessThanOrEqual(before);
    });
  },
);
