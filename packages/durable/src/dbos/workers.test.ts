import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { promisify } from "node:util";
import { AgentError } from "@toolcrib/agent";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { hasPostgres } from "@toolcrib/testing";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { shareServer } from "../../fixtures/runs.ts";
import type { RunInfo } from "../run.ts";
import type { RunTracing } from "../tracing.ts";
import { durable } from "./durable.ts";
import type { DurableOptions } from "./options.ts";

const shared = shareServer();
const { openRuns, work } = shared;
const thrown = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe.skipIf(!hasPostgres)("workers", () => {
  test("a process has one worker at a time, and another after it was closed", async () => {
    const runs = await work({ provider: new ScriptedProvider(["One."]) });
    await runs.work();
    const other = await openRuns({ agents: { helper: { provider: new ScriptedProvider(["Two."]) } } });
    expect(await thrown(other.work())).toMatchObject({ code: "busy", message: expect.stringContaining("one") });
    const id = await other.start("helper", "Hello.");
    await runs.close();
    await other.work();
    expect(await other.result(id)).toBe("Two.");
  });

  test("a run waits for a worker that has its agent, and says so", async () => {
    const schema = "agents apart";
    const client = await openRuns({ schema });
    const id = await client.start("second", "Hello.");
    const first = await openRuns({ schema, agents: { first: { provider: new ScriptedProvider(["First."]) } } });
    await first.work();
    const other = await client.start("first", "Hello.");
    expect(await client.result(other)).toBe("First.");
    expect(await client.get(id)).toMatchObject({ status: "queued", detail: expect.stringContaining('"second"') });
    await first.close();
    const second = await openRuns({ schema, agents: { second: { provider: new ScriptedProvider(["Second."]) } } });
    await second.work();
    expect(await client.result(id)).toBe("Second.");
  });

  test("an agent that cannot be made fails its run in words, and the worker goes on", async () => {
    const runs = await openRuns({
      agents: {
        helper: ({ id }) => {
          if (id === "bad") throw new AgentError({ code: "missing_key", message: "No key for this tenant." });
          return { provider: new ScriptedProvider(["Fine."]) };
        },
      },
    });
    await runs.work();
    await runs.start("helper", "Hello.", { id: "bad" });
    expect(await thrown(runs.result("bad"))).toMatchObject({ code: "missing_key", message: "No key for this tenant." });
    await runs.start("helper", "Hello.", { id: "good" });
    expect(await runs.result("good")).toBe("Fine.");
    await runs.send("bad", "Again.");
    expect(await thrown(runs.result("bad"))).toMatchObject({ code: "missing_key" });
  });

  test("a cancel frees the place of an agent that never comes to be made", async () => {
    const begun = Promise.withResolvers<void>();
    const runs = await openRuns({
      agents: {
        helper: ({ id }) => {
          if (id !== "stuck") return { provider: new ScriptedProvider(["Fine."]) };
          begun.resolve();
          return new Promise(() => {});
        },
      },
      limits: { worker: { concurrency: 1 } },
    });
    await runs.work();
    await runs.start("helper", "Hello.", { id: "stuck" });
    await begun.promise;
    await runs.start("helper", "Hello.", { id: "next" });
    await runs.cancel("stuck");
    expect(await runs.result("next")).toBe("Fine.");
    expect(await runs.get("stuck")).toMatchObject({ status: "cancelled" });
  });

  test("a worker that is closed in the middle of its work warns of nothing", async () => {
    const warnings: string[] = [];
    const begun = Promise.withResolvers<void>();
    const wait = defineTool({
      name: "wait",
      description: "Waits for its signal.",
      parameters: { type: "object", properties: {} },
      readOnly: true,
      execute: (_, call) =>
        new Promise((_resolve, reject) => {
          call?.signal?.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
          begun.resolve();
        }),
    });
    const provider = new ScriptedProvider([{ calls: [{ name: "wait", args: {} }] }]);
    const agent = { provider, tools: new ToolRegistry([wait]) };
    const runs = await work(agent, { onWarning: (message) => warnings.push(message) });
    await runs.start("helper", "Wait.");
    await begun.promise;
    await runs.close();
    expect(warnings).toEqual([]);
  });

  test("steps of megabytes and conversations of many steps are recorded", async () => {
    const text = "x".repeat(3_000_000);
    const steps = Array.from({ length: 60 }, (_, index) => ({ calls: [{ name: "make", args: { index } }] }));
    const make = defineTool({
      name: "make",
      description: "Makes text.",
      parameters: { type: "object", properties: { index: { type: "number" } } },
      readOnly: true,
      execute: () => text,
    });
    const provider = new ScriptedProvider([...steps, "All made."]);
    const agent = { provider, tools: new ToolRegistry([make]), maxSteps: 100, maxToolResultBytes: 1_000_000 };
    const runs = await work(agent);
    const id = await runs.start("helper", "Make it.");
    expect(await runs.result(id)).toBe("All made.");
  });

  test("a worker that is closed takes no further turn, and warns of nothing", async () => {
    const begun: string[] = [];
    const answer = Promise.withResolvers<string>();
    const never = new Promise<string>(() => {});
    const agents = {
      helper: ({ id }: RunInfo) => {
        if (id !== "") begun.push(id);
        return { provider: new ScriptedProvider([() => (id === "brief" ? answer.promise : never)]) };
      },
    };
    const warnings: string[] = [];
    const limits = { worker: { concurrency: 2 } };
    const onWarning = (message: string): void => void warnings.push(message);
    const runs = await openRuns({ agents, limits, closeMs: 1_500, onWarning });
    await runs.work();
    for (const id of ["brief", "slow", "a", "b", "c"]) await runs.start("helper", "Hello.", { id });
    await expect.poll(() => begun.toSorted()).toEqual(["brief", "slow"]);
    const closed = runs.close();
    // Its place is free while the other one runs on.
    answer.resolve("Done.");
    await closed;
    expect(begun.toSorted()).toEqual(["brief", "slow"]);
    expect(warnings).toEqual([]);
  });

  test("a cancel whose client died half-way ends the run in its worker", async () => {
    const aborted = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const hold = defineTool({
      name: "hold",
      description: "Waits for its end.",
      parameters: { type: "object", properties: {} },
      execute: (_, call) => {
        begun.resolve();
        return new Promise((_resolve, reject) => {
          call?.signal?.addEventListener("abort", () => {
            aborted.resolve();
            reject(new Error("stopped"));
          });
        });
      },
    });
    const provider = new ScriptedProvider([{ calls: [{ name: "hold", args: {} }] }, "never"]);
    const runs = await work({ provider, tools: new ToolRegistry([hold]) }, { schema: "half" });
    const id = await runs.start("helper", "Hold.");
    await begun.promise;
    const database = new pg.Client({ connectionString: shared.server.databaseUrl });
    await database.connect();
    await database.query("UPDATE half.agent_runs SET status = 'cancelled'");
    await aborted.promise;
    const workflow = "SELECT status FROM half.workflow_status WHERE workflow_uuid = $1";
    expect((await database.query(workflow, [id])).rows).toEqual([{ status: "CANCELLED" }]);
    await database.end();
  });

  test("each start and each turn is traced, with what the start handed on", async () => {
    const seen: unknown[] = [];
    const carrier = { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` };
    const tracing: RunTracing = {
      start: (run, enqueue) => {
        seen.push(["start", run]);
        return enqueue(carrier);
      },
      turn: async (run, given, turn) => {
        const end = await turn();
        seen.push(["turn", run, given, end.status]);
        return end;
      },
    };
    const runs = await work({ provider: new ScriptedProvider(["One.", "Two."]) }, { tracing });
    const run = { id: "r", agent: "helper" };
    await runs.start("helper", "Hello.", { id: "r" });
    await runs.result("r");
    await runs.send("r", "More.");
    expect(await runs.result("r")).toBe("Two.");
    expect(seen).toEqual([
      ["start", run],
      ["turn", run, carrier, "done"],
      ["turn", run, carrier, "done"],
    ]);
  });

  test("options that are wrong, and a database that cannot be used, are told in words", async () => {
    const { databaseUrl } = shared.server;
    const bad = (options: object): Promise<unknown> =>
      thrown(durable({ databaseUrl, schema: "bad", ...options } as DurableOptions));
    for (const options of [
      ...[
        { databaseUrl: undefined },
        { databaseUrl: "mysql://x/y" },
        { databaseUrl: 7 },
        { leaseMs: 1 },
        { leaseMs: "9" },
      ],
      ...[
        { agents: [] },
        { agents: { a: {} } },
        { agents: { a: { provider: {} } } },
        { agents: { "": {} } },
        { connections: 1 },
      ],
      ...[
        { limits: 3 },
        { limits: { tenants: {} } },
        { limits: { providers: { a: { concurrency: 0 } } } },
        { schema: "" },
        { schema: 'we"ird; drop' },
      ],
      ...[{ schema: "é".repeat(40) }, { database: "" }, { limits: { worker: { concurrency: 1.5 } } }, { onWarning: 1 }],
      ...[{ limits: { providers: { a: { perminute: 1 } } } }, { tracing: {} }, { limits: { providers: [] } }],
      { agents: { a: { provider: new ScriptedProvider([]), journal: "x" } } },
    ])
      expect(await bad(options), JSON.stringify(options)).toMatchObject({ code: "invalid_option" });
    const listener = createServer().listen(0, "127.0.0.1");
    await once(listener, "listening");
    const { port } = listener.address() as { port: number };
    await new Promise((resolve) => listener.close(resolve));
    const nobody = `postgresql://user:hush@127.0.0.1:${port}/db`;
    const errors = [
      [nobody, "network", "docker run"],
      [databaseUrl.replace(/:[0-9a-f]{32}@/, ":hush@"), "authentication", "password"],
      [databaseUrl.replace(/postgres$/, "nowhere"), "not_found", "createdb"],
    ] as const;
    for (const [address, code, word] of errors) {
      const error = await bad({ databaseUrl: address });
      expect(error).toMatchObject({ code, message: expect.stringContaining(word) });
      expect(String(error)).not.toContain("hush");
    }
    const runs = await openRuns();
    expect(await thrown(runs.work())).toMatchObject({ code: "invalid_option" });
  });
});

test("without the engine the error says what to install", async () => {
  const hook = `import { registerHooks } from "node:module";
    registerHooks({ resolve(specifier, context, next) {
      if (specifier === "pg") throw Object.assign(new Error("no pg"), { code: "ERR_MODULE_NOT_FOUND" });
      return next(specifier, context);
    } });`;
  const code = `import { durable } from "@toolcrib/durable/dbos";
    await durable({ databaseUrl: "postgresql://localhost/x" }).catch((error) => console.log(error.code, error.message));`;
  const sources = new URL("../../../mcp/fixtures/sources.mjs", import.meta.url).href;
  const imports = ["--import", sources, "--import", `data:text/javascript,${encodeURIComponent(hook)}`];
  const run = promisify(execFile)(process.execPath, [...imports, "--input-type=module", "-e", code]);
  expect((await run).stdout).toMatch(/^missing_sdk .*npm install @dbos-inc\/dbos-sdk@5\.3 pg\n$/);
});
