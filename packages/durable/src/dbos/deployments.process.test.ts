import type { Provider } from "@toolcrib/agent";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import type { ExecutableTool, ToolRegistry } from "@toolcrib/core";
import { hasPostgres } from "@toolcrib/testing/postgres";
import { createProgramTools } from "@toolcrib/tools-program";
import { describe, expect, test } from "vitest";
import { callOnce, newSchema, openAdmin, shareServer, toolOf } from "../../fixtures/runs.ts";
import type { AgentDefinition } from "../run.ts";

const { openRuns, work } = shareServer();

/** A tool whose call ends when the worker is closed. */
const waiting = (begun: () => void): ToolRegistry =>
  toolOf(
    "wait",
    (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
        begun();
      }),
    { readOnly: true },
  );
/** The same tool, which is quick. */
const quick = toolOf("wait", () => "waited", { readOnly: true });
/** A model that says what the conversation is, and which model it is. */
const model = (name = "once"): Provider => ({ ...callOnce("wait", {}), model: name });

/** Begins a turn in a worker that is closed in the middle of it; resolves to its run. */
async function beginElsewhere(schema: string, more: Partial<AgentDefinition> = {}): Promise<string> {
  const begun = Promise.withResolvers<void>();
  const runs = await work({ provider: model(), tools: waiting(begun.resolve), ...more }, { schema, closeMs: 1 });
  const id = await runs.start("helper", "Wait.");
  await begun.promise;
  await runs.close();
  return id;
}

describe.skipIf(!hasPostgres)("a deployment", () => {
  test.each<[what: string, more: Partial<AgentDefinition>]>([
    ["tools", { tools: toolOf("other", () => "no") }],
    ["limits", { maxSteps: 7 }],
    ["compaction", { compaction: { contextWindow: 1_000 } }],
    ["model", { provider: model("another") }],
  ])("with other %s does not go on with a turn, and the run says so", async (_, more) => {
    const schema = newSchema();
    const id = await beginElsewhere(schema);
    const other = await work({ provider: model(), tools: quick, ...more }, { schema });
    await expect.poll(async () => (await other.get(id))?.detail).toMatch(/other tools, another model or other options/);
    await other.result(await other.start("helper", "Hello."));
    expect(await other.get(id)).toMatchObject({ status: "queued" });
    await other.close();
    const same = await work({ provider: model(), tools: quick }, { schema });
    // The call that close cut off was not recorded as failed: it has run again.
    expect(await same.result(id)).toBe("waited");
  });

  test("with another version of run_program does not go on with a program, and the run says so; the same version does", async () => {
    const schema = newSchema();
    const code = `return [await tools.act(), await tools.wait(), await tools.act()].join()`;
    let acted = 0;
    const programs = (wait: ToolRegistry, more: object = {}): AgentDefinition => {
      const act = toolOf("act", () => `act ${++acted}`).get("act") as ExecutableTool;
      const tools = wait.clone();
      tools.register(act);
      const [tool] = createProgramTools(tools, { tools: ["act", "wait"] });
      tools.register({ ...(tool as ExecutableTool), ...more });
      return { provider: callOnce("run_program", { code }), tools };
    };
    const begun = Promise.withResolvers<void>();
    const first = await work(programs(waiting(begun.resolve)), { schema, closeMs: 1 });
    const id = await first.start("helper", "Go.");
    await begun.promise;
    await first.close();
    const other = await work(programs(quick, { recordVersion: "another" }), { schema });
    await expect.poll(async () => (await other.get(id))?.detail).toMatch(/other tools, another model or other options/);
    expect(await other.get(id)).toMatchObject({ status: "queued" });
    await other.close();
    const same = await work(programs(quick), { schema });
    expect(await same.result(id)).toBe("act 1,waited,act 2");
  });

  test("with another prompt goes on with a turn by the prompt that it began with, and uses its own in the next", async () => {
    const schema = newSchema();
    const id = await beginElsewhere(schema, { systemPrompt: "It is Monday." });
    const provider = Object.assign(new ScriptedProvider(["First.", "Second."]), { name: "once", model: "once" });
    const runs = await work({ provider, tools: quick, systemPrompt: "It is Tuesday." }, { schema });
    expect(await runs.result(id)).toBe("First.");
    await runs.send(id, "And now?");
    expect(await runs.result(id)).toBe("Second.");
    expect(provider.requests.map(({ systemPrompt }) => systemPrompt)).toEqual(["It is Monday.", "It is Tuesday."]);
  });

  test("whose agents differ in a path of the machine alone is the same", async () => {
    const schema = newSchema();
    const id = await beginElsewhere(schema, { sessionContextFilePath: "/srv/a/session.json" });
    const client = await openRuns({ schema });
    await work({ provider: model(), tools: quick, sessionContextFilePath: "/srv/b/session.json" }, { schema });
    expect(await client.result(id)).toBe("waited");
  });

  test("is not held up by a turn of a dead worker that another session has locked", async () => {
    const schema = newSchema();
    const admin = await openAdmin();
    let begun = 0;
    const wait = (_: object, signal: AbortSignal) =>
      ++begun > 2
        ? "waited"
        : new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const agent = { provider: model(), tools: toolOf("wait", wait, { readOnly: true }) };
    // It must not look for dead workers itself.
    const first = await work(agent, { schema, closeMs: 1, leaseMs: 60_000 });
    for (const id of ["held", "free"]) await first.start("helper", "Wait.", { id });
    await expect.poll(() => begun).toBe(2);
    // As if its worker had died: nobody has heard of it.
    await admin.query(`UPDATE ${schema}.workflow_status SET executor_id = 'gone'`);
    await first.close();
    await admin.query("BEGIN");
    await admin.query(`SELECT FROM ${schema}.workflow_status WHERE workflow_uuid = 'held' FOR NO KEY UPDATE`);
    const second = await work(agent, { schema });
    expect(await second.result("free")).toBe("waited");
    expect(await second.get("held")).toMatchObject({ status: "running" });
    await admin.query("COMMIT");
    expect(await second.result("held")).toBe("waited");
  });
});
