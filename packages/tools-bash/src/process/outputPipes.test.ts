import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { answerOf, readJob, run, sharedFolder, startJob } from "../../fixtures/commands.ts";
import { createBashTools } from "../bash.ts";
import { createRunBashTool } from "../runBash.ts";

const folder = sharedFolder("pipes");
const command =
  "echo a > /dev/stderr; echo b | tee /dev/stderr; echo c > /proc/self/fd/1; (echo d >> /dev/fd/2); echo e > /dev/stdout";
const expected = { stdout: "b\nc\ne\n", stderr: "a\nb\nd\n", exit_code: 0 };

describe.runIf(process.platform === "linux")("the output of a command", () => {
  test("can be opened again, in the background as well", async () => {
    const tool = createRunBashTool({ root: folder });
    expect(await answerOf(tool, command)).toEqual(expected);
    const { stdout } = await answerOf(tool, "for fd in 1 2; do readlink /proc/self/fd/$fd; done");
    expect(stdout).toMatch(/^(?:\S*\/toolcrib-\S+ \(deleted\)\n){2}$/);
    const registry = new ToolRegistry(createBashTools({ background: true }));
    const { stdout: out, stderr, exit_code } = await readJob(registry, await startJob(registry, command));
    expect({ stdout: out, stderr, exit_code }).toEqual(expected);
  });

  test("is not waited for by a program that reads its standard error", async () => {
    expect(await run("cat <&2; echo ended")).toMatchObject({ stdout: "ended\n", exit_code: 0 });
  });

  test("goes through the same pipes again, but never while something still holds them", async () => {
    const tool = createRunBashTool();
    const pipes = async (more = ""): Promise<string[]> =>
      (await answerOf(tool, `for fd in 1 2; do readlink /proc/self/fd/$fd; done; ${more}`)).stdout.trim().split("\n");
    const first = await pipes();
    expect(await pipes()).toEqual(first);
    const [stdout, stderr, pid] = await pipes("sleep 60 & echo $!");
    const next = await pipes();
    for (const path of [stdout, stderr]) expect(next).not.toContain(path);
    process.kill(Number(pid), "SIGKILL");
  });

  test("takes no more descriptors, and leaves nothing in the temporary folder", async () => {
    const own = join(folder, "tmp");
    mkdirSync(own);
    vi.stubEnv("TMPDIR", own);
    onTestFinished(() => void vi.unstubAllEnvs());
    const tool = createRunBashTool();
    await tool.execute({ command: "true" });
    const open = (): number => readdirSync("/proc/self/fd").length;
    const first = open();
    for (let round = 0; round < 12; round += 1) await tool.execute({ command: "echo x; echo y >&2" });
    expect(Math.abs(open() - first)).toBeLessThanOrEqual(16);
    expect(readdirSync(own)).toEqual([]);
  });
});
