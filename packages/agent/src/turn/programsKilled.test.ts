import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { createProgramTools } from "@toolcrib/tools-program";
import { beforeEach, describe, expect, test } from "vitest";
import { anyTool } from "../../testing/turns.ts";
import { Agent } from "../agent.ts";
import { ScriptedProvider } from "../testing.ts";

const built = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const modules = ["core/dist/index.js", "agent/dist/index.js", "agent/dist/testing.js", "tools-program/dist/index.js"];

/** A process that asks about the writes of a program, then waits to be killed. */
const child = `
  const [{ defineTool, ToolRegistry }, { Agent }, { ScriptedProvider }, { createProgramTools }] = await Promise.all(
    ${JSON.stringify(modules.map(built))}.map((path) => import(path)));
  const { appendFileSync } = await import("node:fs");
  const [journal, log, code, root] = process.argv.slice(1);
  const write = defineTool({ name: "write", description: "For a test.", parameters: { type: "object" },
    effects: ({ path }) => [{ kind: "write", path: root + "/" + path }],
    execute: ({ path }) => { appendFileSync(log, path + "\\n"); return "wrote " + path; } });
  const tools = new ToolRegistry([write]);
  tools.register(...createProgramTools(tools, { tools: ["write"] }));
  tools.guard(({ name, args }) => name !== "write" || args.path === "free" ||
    { ask: { text: "Write " + args.path + "?", data: { upTo: root } } });
  const model = new ScriptedProvider([{ calls: [{ id: "c", name: "run_program", args: { code } }] }]);
  await new Agent(model, { tools, journal }).chat("go").catch((error) => console.log(error.reason));
  setInterval(() => {}, 1000);
`;

let folder: string;
let journal: string;
let log: string;
beforeEach(() => {
  folder = temporaryFolder("killed");
  [journal, log] = [join(folder, "one.jsonl"), join(folder, "log")];
  writeFileSync(log, "");
});

/** Runs a program in another process until it asks, and kills that. */
async function runAndKill(code: string): Promise<void> {
  const running = spawn(process.execPath, ["--input-type=module", "-e", child, journal, log, code, folder]);
  const [printed] = await once(running.stdout, "data");
  expect(String(printed)).toBe("approval\n");
  running.kill("SIGKILL");
  await once(running, "exit");
}

/** Returns the agent of the journal, in this process. */
function resumed(): Promise<Agent> {
  const execute = ({ path }: Record<string, unknown>): string => {
    writeFileSync(log, `${String(path)}\n`, { flag: "a" });
    return `wrote ${String(path)}`;
  };
  const effects = ({ path }: { path: string }) => [{ kind: "write", path: join(folder, path) }];
  const tools = new ToolRegistry([anyTool("write", execute, { effects })]);
  tools.register(...createProgramTools(tools, { tools: ["write"] }));
  tools.guard(({ name, args }) => {
    const isFree = name !== "write" || args.path === "free";
    return isFree || { ask: { text: `Write ${String(args.path)}?`, data: { upTo: folder } } };
  });
  return Agent.resume(new ScriptedProvider(["fine"]), journal, { tools });
}

describe.skipIf(!modules.every((path) => existsSync(built(path))))("a program whose process was killed", () => {
  test("while it waits goes on in another one, and writes nothing twice", async () => {
    await runAndKill(`await tools.write({ path: "free" });
      return (await Promise.all(Array.from({ length: 10 }, (_, n) => tools.write({ path: "p" + n })))).length`);
    const agent = await resumed();
    expect(agent.pending).toHaveLength(10);
    expect(await agent.approve(Object.fromEntries(agent.pending.map(({ callId }) => [callId, true])))).toBe("fine");
    expect(readFileSync(log, "utf8").split("\n")).toEqual([
      "free",
      ...Array.from({ length: 10 }, (_, n) => `p${n}`),
      "",
    ]);
  });

  test("in a loop of writes asks one question, whose answer in another process is for all of them", async () => {
    await runAndKill(`await tools.write({ path: "free" });
      for (let n = 0; n < 10; n += 1) await tools.write({ path: "notes/" + n }); return "written"`);
    const agent = await resumed();
    const question = { text: "Write notes/0?", data: { upTo: join(folder, "notes") } };
    expect(agent.pending).toMatchObject([{ callId: "c:2", effects: [{ kind: "write" }], question }]);
    expect(await agent.approve({ "c:2": { upTo: 10 } })).toBe("fine");
    const paths = Array.from({ length: 10 }, (_, n) => `notes/${n}`);
    expect(readFileSync(log, "utf8").split("\n")).toEqual(["free", ...paths, ""]);
  });
});
