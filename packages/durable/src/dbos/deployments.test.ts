import { ScriptedProvider } from "@toolcrib/agent/testing";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { hasPostgres } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { shareServer } from "../../fixtures/runs.ts";
import type { AgentDefinition, DurableRuns } from "../run.ts";

const { openRuns, work } = shareServer();

/** A tool whose call ends when the worker is closed: the turn goes on elsewhere. */
function waiting(begun: () => void): ToolRegistry {
  const wait = defineTool({
    name: "wait",
    description: "Waits for its signal.",
    parameters: { type: "object", properties: {} },
    readOnly: true,
    execute: (_, call) =>
      new Promise((_resolve, reject) => {
        call?.signal?.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
        begun();
      }),
  });
  return new ToolRegistry([wait]);
}

/** The same tool, which is quick. */
const quick = new ToolRegistry([
  defineTool({
    name: "wait",
    description: "Waits for its signal.",
    parameters: { type: "object", properties: {} },
    readOnly: true,
    execute: () => "waited",
  }),
]);

/** Begins a turn in a worker that is closed in the middle of it; resolves to its run. */
async function beginElsewhere(schema: string, more: Partial<AgentDefinition>): Promise<string> {
  const begun = Promise.withResolvers<void>();
  const provider = new ScriptedProvider([{ calls: [{ name: "wait", args: {} }] }]);
  const runs: DurableRuns = await work({ provider, tools: waiting(begun.resolve), ...more }, { schema, closeMs: 1 });
  const id = await runs.start("helper", "Wait.");
  await begun.promise;
  await runs.close();
  return id;
}

describe.skipIf(!hasPostgres)("a deployment", () => {
  test.each<[what: string, more: Partial<AgentDefinition>]>([
    ["limits", { maxSteps: 7 }],
    ["compaction", { compaction: { contextWindow: 1_000 } }],
    ["model", { provider: Object.assign(new ScriptedProvider(["No."]), { model: "another" }) }],
  ])("with other %s does not go on with a turn, and the run says so", async (what, more) => {
    const schema = `other ${what}`;
    const id = await beginElsewhere(schema, {});
    const other = await work({ provider: new ScriptedProvider(["No."]), tools: quick, ...more }, { schema });
    await expect.poll(async () => (await other.get(id))?.detail).toContain("other options");
    const fresh = await other.start("helper", "Hello.");
    expect(await other.result(fresh)).toBe("No.");
    expect(await other.get(id)).toMatchObject({ status: "queued" });
    await other.close();
    const same = await work({ provider: new ScriptedProvider(["Yes."]), tools: quick }, { schema });
    expect(await same.result(id)).toBe("Yes.");
  });

  test("with another prompt goes on with a turn by the prompt that it began with, and uses its own in the next", async () => {
    const schema = "prompts";
    const id = await beginElsewhere(schema, { systemPrompt: "It is Monday." });
    const provider = new ScriptedProvider(["First.", "Second."]);
    const runs = await work({ provider, tools: quick, systemPrompt: "It is Tuesday." }, { schema });
    expect(await runs.result(id)).toBe("First.");
    await runs.send(id, "And now?");
    expect(await runs.result(id)).toBe("Second.");
    expect(provider.requests.map(({ systemPrompt }) => systemPrompt)).toEqual(["It is Monday.", "It is Tuesday."]);
  });

  test("whose agents differ in a path of the machine alone is the same", async () => {
    const schema = "paths";
    const id = await beginElsewhere(schema, { sessionContextFilePath: "/srv/a/session.json" });
    const client = await openRuns({ schema });
    const sessionContextFilePath = "/srv/b/session.json";
    await work({ provider: new ScriptedProvider(["Yes."]), tools: quick, sessionContextFilePath }, { schema });
    expect(await client.result(id)).toBe("Yes.");
  });
});
