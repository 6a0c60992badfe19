import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { createProgramTools } from "@toolcrib/tools-program";
import { expect, test } from "vitest";
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
  const [journal, log, code] = process.argv.slice(1);
  const write = defineTool({ name: "write", description: "For a test.", parameters: { type: "object" },
    execute: ({ path }) => { appendFileSync(log, path + "\\n"); return "wrote " + path; } });
  const tools = new ToolRegistry([write]);
  tools.register(...createProgramTools(tools, { tools: ["write"] }));
  tools.guard(({ name, args }) => name !== "write" || args.path === "free" || { ask: "Write " + args.path + "?" });
  const model = new ScriptedProvider([{ calls: [{ id: "c", name: "run_program", args: { code } }] }]);
  await new Agent(model, { tools, journal }).chat("go").catch((error) => console.log(error.reason));
  setInterval(() => {}, 1000);
`;

test.skipIf(!modules.every((path) => existsSync(built(path))))(
  "a program whose process was killed while it waits goes on in another one, and writes nothing twice",
  async () => {
    const folder = temporaryFolder("killed");
    const [journal, log] = [join(folder, "one.jsonl"), join(folder, "log")];
    writeFileSync(log, "");
    const code = `await tools.write({ path: "free" });
      return (await Promise.all(Array.from({ length: 10 }, (_, n) => tools.write({ path: "p" + n })))).length`;
    const running = spawn(process.execPath, ["--input-type=module", "-e", child, journal, log, code]);
    const [printed] = await once(running.stdout, "data");
    expect(String(printed)).toBe("approval\n");
    running.kill("SIGKILL");
    await once(running, "exit");
    const write = anyTool("write", ({ path }) => {
      writeFileSync(log, `${String(path)}\n`, { flag: "a" });
      return `wrote ${String(path)}`;
    });
    const tools = new ToolRegistry([write]);
    tools.register(...createProgramTools(tools, { tools: ["write"] }));
    tools.guard(({ name, args }) => name !== "write" || args.path === "free" || { ask: `Write ${String(args.path)}?` });
    const agent = await Agent.resume(new ScriptedProvider(["fine"]), journal, { tools });
    expect(agent.pending).toHaveLength(10);
    expect(await agent.approve(Object.fromEntries(agent.pending.map(({ callId }) => [callId, true])))).toBe("fine");
    expect(readFileSync(log, "utf8").split("\n")).toEqual([
      "free",
      ...Array.from({ length: 10 }, (_, n) => `p${n}`),
      "",
    ]);
  },
);
