import { ScriptedProvider } from "@toolcrib/agent/testing";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { hasPostgres, type PostgresServer, startPostgres } from "@toolcrib/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { DurableRuns } from "../index.ts";
import { durable } from "./durable.ts";
import type { DurableOptions } from "./options.ts";

let server: PostgresServer | undefined;
let schema = 0;
const open: DurableRuns[] = [];

beforeAll(async () => {
  server = await startPostgres();
});
afterEach(async () => {
  for (const runs of open.splice(0)) await runs.close();
});
afterAll(async () => {
  await server?.stop();
});

const runsOf = async (options: Partial<DurableOptions>): Promise<DurableRuns> => {
  const runs = await durable({ databaseUrl: server?.databaseUrl ?? "", leaseMs: 1000, closeMs: 500, ...options });
  open.push(runs);
  return runs;
};
const fresh = (): string => `s${++schema}`;

const note = (execute: (text: string) => string) =>
  new ToolRegistry([
    defineTool({
      name: "note",
      description: "Takes a note.",
      parameters: {
        type: "object",
        properties: { text: { type: "string" } },
        required: ["text"],
        additionalProperties: false,
      },
      execute: ({ text }) => execute(text),
    }),
  ]);

describe.skipIf(!hasPostgres)("durable runs", () => {
  test("a run takes its steps and gives its answer", async () => {
    const notes: string[] = [];
    const provider = new ScriptedProvider([
      {
        text: "First a note.",
        calls: [{ name: "note", args: { text: "one" } }],
        usage: { inputTokens: 3, outputTokens: 2, cost: 0.5 },
      },
      { text: "Done." },
    ]);
    const tools = note((text) => {
      notes.push(text);
      return "noted";
    });
    const runs = await runsOf({ schema: fresh(), agents: { notes: { provider, tools } } });
    const id = await runs.start("notes", "Take a note.", { tenant: "acme", labels: { user: 7 } });
    expect(await runs.get(id)).toMatchObject({ status: "queued", detail: expect.stringContaining("work()") });
    await runs.work();
    expect(await runs.result(id)).toBe("Done.");
    expect(notes).toEqual(["one"]);
    expect(await runs.get(id)).toMatchObject({
      id,
      agent: "notes",
      tenant: "acme",
      labels: { user: 7 },
      status: "done",
      answer: "Done.",
      turns: 1,
      attempts: 1,
      usage: { inputTokens: 3, outputTokens: 2, cost: 0.5 },
    });
  });
});
