import { spawnSync } from "node:child_process";
import { expect, test, vi } from "vitest";
import { createRunBashTool } from "../runBash.ts";
import { createLeftovers } from "./leftovers.ts";

const onLinux = process.platform === "linux";

function isAlive(pid: number): boolean {
  return /^[^ZX]/.test(spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim());
}

test.runIf(onLinux)("end() kills the processes that earlier commands of this program left, and no others", async () => {
  const leftovers = createLeftovers();
  const other = createRunBashTool();
  const tool = createRunBashTool({ leftovers });
  const pidOf = (answer: string): number => Number((JSON.parse(answer) as { stdout: string }).stdout);
  const held = pidOf(await tool.execute({ command: "sleep 3001 & echo $!" }));
  const escaped = pidOf(await tool.execute({ command: "setsid sleep 3002 >/dev/null 2>&1 & echo $!" }));
  const others = pidOf(await other.execute({ command: "sleep 3003 & echo $!" }));
  expect([held, escaped, others].map(isAlive)).toEqual([true, true, true]);

  expect(leftovers.end()).toBe(2);
  await expect.poll(() => [held, escaped, others].map(isAlive)).toEqual([false, false, true]);
  expect(leftovers.end()).toBe(0);
  process.kill(others, "SIGKILL");
});

let started = 0;

async function startTwo(leftovers: ReturnType<typeof createLeftovers>): Promise<{ ended: Promise<string> }> {
  // Words that `ps` shows for no other process, such as those of the same test in another run.
  started += 1;
  const own = `3004.${process.pid}${started}`;
  const ended = createRunBashTool({ leftovers }).execute({ command: `setsid -f sleep ${own}; sleep ${own}` });
  const listed = (): string => spawnSync("ps", ["-eo", "args"], { encoding: "utf8" }).stdout;
  await expect
    .poll(() =>
      listed()
        .split("\n")
        .filter((line) => line === `sleep ${own}`),
    )
    .toHaveLength(2);
  return { ended };
}

test.runIf(onLinux)("end() also kills a running call", async () => {
  const leftovers = createLeftovers();
  const { ended } = await startTwo(leftovers);
  expect(leftovers.end()).toBeGreaterThanOrEqual(2);
  expect(JSON.parse(await ended)).toMatchObject({ exit_code: 137, stderr: "" });
});

test.runIf(onLinux)(
  "end() stops every process before it kills one, so that no shell goes on with its next command",
  async () => {
    const leftovers = createLeftovers();
    const { ended } = await startTwo(leftovers);
    const spy = vi.spyOn(process, "kill");
    const killed = leftovers.end();
    const signals = spy.mock.calls.map(([, signal]) => signal);
    spy.mockRestore();
    expect(signals).toEqual([...Array(killed).fill("SIGSTOP"), ...Array(killed).fill("SIGKILL")]);
    await ended;
  },
);

test("commands that leave nothing behind leave no record", async () => {
  const settled: number[] = [];
  const leftovers = {
    started: () => {},
    settled: (_: string, left: readonly unknown[]) => void settled.push(left.length),
    end: () => 0,
  };
  await createRunBashTool({ leftovers }).execute({ command: "true" });
  await createRunBashTool({ leftovers }).execute({ command: "sleep 30", timeout: 50 });
  expect(settled).toEqual([0, 0]);
});
