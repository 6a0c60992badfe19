import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { answerOf, uniqueSleep, withArgument } from "../../fixtures/commands.ts";
import { createRunBashTool } from "../runBash.ts";
import { createLeftovers } from "./leftovers.ts";

const onLinux = process.platform === "linux";

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

test.runIf(onLinux)("end() kills the processes that earlier commands of this program left, and no others", async () => {
  const leftovers = createLeftovers();
  const other = createRunBashTool();
  const tool = createRunBashTool({ leftovers });
  const start = async (of: typeof tool, command: string): Promise<number> =>
    Number((await answerOf(of, `${command} & echo $!`)).stdout);
  const held = await start(tool, "sleep 3001");
  const escaped = await start(tool, "setsid sleep 3002 >/dev/null 2>&1");
  const others = await start(other, "sleep 3003");
  expect([held, escaped, others].map(isAlive)).toEqual([true, true, true]);

  expect(leftovers.end()).toBe(2);
  await expect.poll(() => [held, escaped, others].map(isAlive)).toEqual([false, false, true]);
  expect(leftovers.end()).toBe(0);
  process.kill(others, "SIGKILL");
});

test.runIf(onLinux)(
  "end() also kills a running call, and stops every process before it kills one, so that no shell goes on",
  async () => {
    const leftovers = createLeftovers();
    const sleep = uniqueSleep();
    const ended = answerOf(createRunBashTool({ leftovers }), `setsid -f sleep ${sleep}; sleep ${sleep}`);
    await expect.poll(() => withArgument(sleep)).toHaveLength(2);
    const spy = vi.spyOn(process, "kill");
    const killed = leftovers.end();
    const signals = spy.mock.calls.map(([, signal]) => signal);
    spy.mockRestore();
    expect(killed).toBeGreaterThanOrEqual(2);
    expect(signals).toEqual([...Array(killed).fill("SIGSTOP"), ...Array(killed).fill("SIGKILL")]);
    expect(await ended).toMatchObject({ exit_code: 137 });
    await expect.poll(() => withArgument(sleep)).toEqual([]);
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
