import { readdirSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createBashTools } from "../bash.ts";
import { sandboxProblem } from "../bashOptions.ts";
import { createRunBashTool } from "../runBash.ts";

let folder: string;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "toolcrib-pipes-")));
});
afterAll(() => rm(folder, { recursive: true }));

const withoutSandbox = await sandboxProblem({ cwd: import.meta.dirname });
const command =
  "echo a > /dev/stderr; echo b | tee /dev/stderr; echo c > /proc/self/fd/1; (echo d >> /dev/fd/2); echo e > /dev/stdout";
const expected = { stdout: "b\nc\ne\n", stderr: "a\nb\nd\n", exit_code: 0 };

describe.runIf(process.platform === "linux")("the output of a command", () => {
  test.each([
    ["plainly", false] as const,
    ...(withoutSandbox === undefined ? [["in the sandbox", true] as const] : []),
  ])("can be opened again, %s", async (_, sandbox) => {
    const tool = createRunBashTool({ root: folder, sandbox });
    expect(JSON.parse(await tool.execute({ command }))).toEqual(expected);
    expect(
      JSON.parse(await tool.execute({ command: "for fd in 1 2; do readlink /proc/self/fd/$fd; done" })),
    ).toMatchObject({
      stdout: expect.stringMatching(/^(?:\S*\/toolcrib-\S+ \(deleted\)\n){2}$/),
    });
  });

  test("can be opened again in the background", async () => {
    const registry = new ToolRegistry(createBashTools({ background: true }));
    const { id } = JSON.parse(await registry.execute("run_bash", { command, background: true })) as { id: string };
    const all = { stdout: "", stderr: "" };
    for (let running = true; running; ) {
      const reading = JSON.parse(await registry.execute("read_output", { id, wait: 60_000 }));
      running = reading.running;
      all.stdout += reading.stdout;
      all.stderr += reading.stderr;
    }
    expect({ ...all, exit_code: 0 }).toEqual(expected);
  });

  test("is not waited for by a program that reads its standard error", async () => {
    const answer = JSON.parse(
      await createRunBashTool({ timeoutMs: 20_000 }).execute({ command: "cat <&2; echo ended" }),
    );
    expect(answer).toMatchObject({ stdout: "ended\n", exit_code: 0 });
  });

  test("goes through the same pipes again, but never while something still holds them", async () => {
    const tool = createRunBashTool();
    const run = async (more = ""): Promise<string[]> => {
      const command = `for fd in 1 2; do readlink /proc/self/fd/$fd; done; ${more}`;
      return JSON.parse(await tool.execute({ command }))
        .stdout.trim()
        .split("\n");
    };
    const first = await run();
    expect(await run()).toEqual(first);
    const [stdout, stderr, pid] = await run("sleep 60 & echo $!");
    const next = await run();
    for (const path of [stdout, stderr]) expect(next).not.toContain(path);
    process.kill(Number(pid), "SIGKILL");
  });

  test("takes no more descriptors, and leaves nothing in the temporary folder", async () => {
    const own = join(folder, "tmp");
    await mkdir(own);
    vi.stubEnv("TMPDIR", own);
    onTestFinished(() => void vi.unstubAllEnvs());
    const tool = createRunBashTool();
    await tool.execute({ command: "true" });
    const open = (): number => readdirSync("/proc/self/fd").length;
    const first = open();
    for (let round = 0; round < 20; round += 1) await tool.execute({ command: "echo x; echo y >&2" });
    expect(Math.abs(open() - first)).toBeLessThanOrEqual(16);
    expect(readdirSync(own)).toEqual([]);
  });
});
