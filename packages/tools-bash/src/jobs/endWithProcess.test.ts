import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sharedFolder, uniqueSleep, withArgument } from "../../fixtures/commands.ts";
import { createBashTools } from "../bash.ts";
import { createBackgroundJobs } from "./backgroundJobs.ts";

/* Programs of their own that leave commands running in the background: nothing may outlive them. */

const sources = new URL("../../../mcp/fixtures/sources.mjs", import.meta.url).href;
const folder = sharedFolder("ending");

interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  printed: string;
}

/** Runs a program in which `sleep` is running, and another that left its group; it gets `signal` when it has said that it is ready. */
async function program(body: string, sleep: string, signal?: NodeJS.Signals): Promise<Ended> {
  const file = join(folder, `${sleep}.mjs`);
  writeFileSync(
    file,
    `import { createBashTools } from "@toolcrib/tools-bash";
     const [run, read, stop] = createBashTools({ background: true });
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
    if (signal && /ready\n$/.test(printed)) process.kill(child.pid as number, signal);
  });
  return new Promise((resolve) => child.once("close", (code, end) => resolve({ code, signal: end, printed })));
}

describe.runIf(process.platform === "linux")("commands in the background end with their program", () => {
  const [running, left] = [uniqueSleep(), uniqueSleep()];

  const gone = async (): Promise<void> => {
    await expect.poll(() => [running, left].flatMap(withArgument)).toEqual([]);
  };

  test("and do not keep it from ending, with what they left running, which nobody would find any more", async () => {
    const body = `const again = JSON.parse(await run.execute({ command: "setsid sleep ${left} > /dev/null 2>&1 &", background: true }));
      await read.execute({ id: again.id, wait: 60000 });
      process.exitCode = 7;`;
    expect(await program(body, running)).toMatchObject({ code: 7 });
    await gone();
  });

  test("when a signal ends it, with the same exit as without them, though several copies of the package handle it", async () => {
    const copy = `const marked = Object.assign(() => { process.removeListener("SIGTERM", marked);
        if (process.listenerCount("SIGTERM") === 0) process.kill(process.pid, "SIGTERM"); }, { [Symbol.for("toolcrib.endWithProcess")]: true });
      process.on("SIGTERM", marked); setInterval(() => {}, 1000);`;
    expect(await program(copy, running, "SIGTERM")).toMatchObject({ code: null, signal: "SIGTERM" });
    await gone();
  });

  test("but a signal that the program handles itself ends neither", async () => {
    const body = `process.on("SIGTERM", async () => {
        console.log(JSON.parse(await read.execute({ id })).running);
        process.exit(0);
      });
      setInterval(() => {}, 1000);`;
    const ended = await program(body, running, "SIGTERM");
    expect(ended).toEqual({ code: 0, signal: null, printed: "ready\ntrue\n" });
    await gone();
  });
});

test("SIGINT, SIGTERM, SIGHUP and the exit are listened to while commands run, and no longer", async () => {
  const names = ["exit", "SIGINT", "SIGTERM", "SIGHUP"];
  const counts = (): number[] => names.map((name) => process.listenerCount(name));
  const before = counts();
  const jobs = createBackgroundJobs();
  const [run] = createBashTools({ background: jobs });
  for (let index = 0; index < 3; index += 1) await run?.execute({ command: "sleep 600", background: true });
  expect(counts()).toEqual(before.map((count) => count + 1));
  for (const { id } of jobs.list()) await jobs.stop(id);
  expect(counts()).toEqual(before);
});
