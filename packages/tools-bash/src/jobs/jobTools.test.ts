import { type ExecutableTool, ToolRegistry } from "@toolcrib/core";
import { testTool } from "@toolcrib/core/testing";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { createBashTools } from "../bash.ts";
import type { BashToolOptions } from "../bashOptions.ts";
import { createRunBashTool } from "../runBash.ts";
import { type BackgroundJobs, createBackgroundJobs } from "./backgroundJobs.ts";

const folder = "/";
let jobs: BackgroundJobs;

afterEach(() => {
  jobs?.end();
});

interface Started {
  id: string;
}

function toolsWith(): { all: ExecutableTool[]; start: (command: string) => Promise<Started> } {
  jobs = createBackgroundJobs();
  const all = createBashTools({ cwd: folder, background: jobs });
  const start = async (command: string): Promise<Started> =>
    JSON.parse((await all[0]?.execute({ command, background: true })) ?? "") as Started;
  return { all, start };
}

describe("the tools", () => {
  test("are three with the option, and without it only run_bash, without background", async () => {
    expect(createBashTools({ background: true }).map(({ name }) => name)).toEqual([
      "run_bash",
      "read_output",
      "stop_command",
    ]);
    for (const background of [undefined, false]) {
      const tools = createBashTools({ background });
      expect(JSON.stringify(tools.map((tool) => tool.getSchema()))).not.toContain("background");
      await expect(tools[0]?.execute({ command: "true", background: true })).rejects.toMatchObject({
        code: "invalid_arguments",
      });
    }
    for (const background of [null, "yes", 1, {}]) {
      expect(() => createBashTools({ background } as unknown as BashToolOptions)).toThrow(TypeError);
    }
    expect(() => createRunBashTool({ background: true } as BashToolOptions)).toThrow('unknown option "background"');
  });

  test("name the known ids when one is unknown", async () => {
    const { all, start } = toolsWith();
    const registry = new ToolRegistry(all);
    const say = (name: string, args: unknown): Promise<string> => registry.execute(name, args);
    expect(await say("read_output", { id: "job-1" })).toBe(
      'Error executing read_output: Invalid arguments: id: no background command has the id "job-1"; none was started, or this is another process',
    );
    const { id } = await start("true");
    expect(await say("stop_command", { id: "1" })).toContain(`; there are ${id}`);
    expect(await say("read_output", { id, wait: -1 })).toContain("wait: must be a number of milliseconds");
    expect(await say("read_output", {})).toContain("id: is required");
  });

  test("return their answers also as data", async () => {
    const registry = new ToolRegistry(toolsWith().all);
    const outcome = await registry.invoke("run_bash", { command: "echo on", background: true });
    const { id } = (outcome.ok ? outcome.data : undefined) as Started;
    const waited = await registry.invoke("run_bash", { command: "exit 3" });
    expect(waited).toMatchObject({ data: { stdout: "", stderr: "", exit_code: 3 } });
    expect(await registry.invoke("read_output", { id, wait: 60_000 })).toMatchObject({ data: { stdout: "on\n" } });
    expect(await registry.invoke("stop_command", { id })).toMatchObject({ data: { running: false, stdout: "" } });
  });

  test("tell guards their effects", async () => {
    const { all, start } = toolsWith();
    const [run, read, stop] = all;
    const { id } = await start("sleep 600");
    expect(await run?.effects?.({ command: "true", background: true })).toEqual([
      { kind: "execute", command: "true", shell: "sh", cwd: folder, confinement: "background" },
    ]);
    expect([await read?.effects?.({ id }), await stop?.effects?.({ id })]).toEqual([[], []]);
    expect(() => read?.effects?.({ id: "other" })).toThrow("no background command");
    expect(() => stop?.effects?.({ id: 1 })).toThrow("id: is required");
  });

  test("ask the registry for as much time as the reading may wait", () => {
    const limit = toolsWith().all[1]?.timeoutMs as (args: Record<string, unknown>) => number;
    expect([limit({}), limit({ wait: 60_000 }), limit({ wait: "soon" })]).toEqual([5000, 65_000, 5000]);
  });
});

const shared = createBackgroundJobs();
const three = createBashTools({ background: shared });
afterAll(() => void shared.end());
for (const tool of three.slice(1)) {
  testTool(test, {
    create: () => tool,
    validArgs: async () => ({
      id: (JSON.parse(await (three[0] as ExecutableTool).execute({ command: "echo on", background: true })) as Started)
        .id,
    }),
  });
}
