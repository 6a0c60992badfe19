import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

/*
 * Programs of their own that leave commands running in the background: nothing may outlive them.
 */

const sources = new URL("../../../mcp/fixtures/sources.mjs", import.meta.url).href;
let folder: string;
let serial = 0;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "toolcrib-ending-")));
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  printed: string;
}

/** Runs a program in which `sleep` is running, and another that left its group; `onReady` is called when it has said so. */
async function program(body: string, sleep: string, onReady: (pid: number) => void = () => {}): Promise<Ended> {
  const file = join(folder, `${sleep}.mjs`);
  writeFileSync(
    file,
    `import { createBashTools } from "@toolcrib/tools-bash";
     const all = createBashTools({ background: true });
     const [run, read] = all;
     const command = "sleep ${sleep} & setsid sleep ${sleep} & echo on; wait";
     const { id } = JSON.parse(await run.execute({ command, background: true }));
     await read.execute({ id, wait: 60000 });
     ${body}
     console.log("ready");`,
  );
  const child = spawn(process.execPath, ["--import", sources, file], { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  child.stdout.on("data", (chunk: Buffer) => {
    printed += chunk.toString();
    if (/ready\n$/.test(printed)) onReady(child.pid as number);
  });
  return new Promise((resolve) => child.once("close", (code, signal) => resolve({ code, signal, printed })));
}

function uniqueSleep(): string {
  serial += 1;
  return `${8000 + serial}.${process.pid}`;
}

function isRunning(argument: string): boolean {
  return readdirSync("/proc").some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(argument);
    } catch {
      return false;
    }
  });
}

describe.runIf(process.platform === "linux")("commands in the background end with their program", () => {
  test("and do not keep it from ending", async () => {
    const sleep = uniqueSleep();
    expect(await program("", sleep)).toMatchObject({ code: 0 });
    await expect.poll(() => isRunning(sleep)).toBe(false);
  });

  test("with what they left running, which nobody would find any more", async () => {
    const sleep = uniqueSleep();
    const left = uniqueSleep();
    const body = `const again = JSON.parse(await run.execute({ command: "setsid sleep ${left} > /dev/null 2>&1 &", background: true }));
      await read.execute({ id: again.id, wait: 60000 });
      await all[2].execute({ id });`;
    expect(await program(body, sleep)).toMatchObject({ code: 0 });
    await expect.poll(() => isRunning(sleep) || isRunning(left)).toBe(false);
  });

  test("when it exits by itself", async () => {
    const sleep = uniqueSleep();
    expect(await program('process.on("exit", () => {}); setTimeout(() => process.exit(7), 10);', sleep)).toMatchObject({
      code: 7,
    });
    await expect.poll(() => isRunning(sleep)).toBe(false);
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "when %s ends it, with the same exit as without them",
    async (signal) => {
      const sleep = uniqueSleep();
      const ended = await program("setInterval(() => {}, 1000);", sleep, (pid) => process.kill(pid, signal));
      expect(ended).toMatchObject({ code: null, signal });
      await expect.poll(() => isRunning(sleep)).toBe(false);
    },
  );

  test("when a signal ends it that several copies of the package handle", async () => {
    const sleep = uniqueSleep();
    const copy = `const marked = Object.assign(() => { process.removeListener("SIGTERM", marked);
        if (process.listenerCount("SIGTERM") === 0) process.kill(process.pid, "SIGTERM"); }, { [Symbol.for("toolcrib.endWithProcess")]: true });
      process.on("SIGTERM", marked); setInterval(() => {}, 1000);`;
    expect(await program(copy, sleep, (pid) => process.kill(pid, "SIGTERM"))).toMatchObject({ signal: "SIGTERM" });
    await expect.poll(() => isRunning(sleep)).toBe(false);
  });

  test("but a signal that the program handles itself ends neither", async () => {
    const sleep = uniqueSleep();
    const body = `process.on("SIGTERM", async () => {
        console.log(JSON.parse(await read.execute({ id })).running);
        process.exit(0);
      });
      setInterval(() => {}, 1000);`;
    const ended = await program(body, sleep, (pid) => process.kill(pid, "SIGTERM"));
    expect(ended).toEqual({ code: 0, signal: null, printed: "ready\ntrue\n" });
    await expect.poll(() => isRunning(sleep)).toBe(false);
  });
});

test("no listener is left when no command runs", async () => {
  const { createBackgroundJobs } = await import("./backgroundJobs.ts");
  const { createBashTools } = await import("../bash.ts");
  const count = (): number =>
    ["exit", "SIGINT", "SIGTERM", "SIGHUP"].reduce((sum, name) => sum + process.listenerCount(name), 0);
  const before = count();
  const jobs = createBackgroundJobs();
  const [run] = createBashTools({ background: jobs });
  for (let index = 0; index < 3; index += 1) await run?.execute({ command: "sleep 600", background: true });
  expect(count()).toBe(before + 4);
  for (const { id } of jobs.list()) await jobs.stop(id);
  expect(count()).toBe(before);
});
