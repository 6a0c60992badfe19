import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { AgentError } from "@toolcrib/agent";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { hasPostgres } from "@toolcrib/testing/postgres";
import { describe, expect, test } from "vitest";
import { newSchema, openAdmin, server, shareServer, thrown, toolOf } from "../../fixtures/runs.ts";
import type { RunInfo } from "../run.ts";
import type { RunTracing } from "../tracing.ts";

const { openRuns, work } = shareServer();

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
    const schema = newSchema();
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

  test("steps of megabytes and conversations of many steps are recorded", async () => {
    const tools = toolOf("make", ({ index }) => "x".repeat(Number(index) < 5 ? 3_000_000 : 100), { readOnly: true });
    const steps = Array.from({ length: 60 }, (_, index) => ({ calls: [{ name: "make", args: { index } }] }));
    const provider = new ScriptedProvider([...steps, "All made."]);
    const runs = await work({ provider, tools, maxSteps: 100, maxToolResultBytes: 1_000_000 });
    const id = await runs.start("helper", "Make it.");
    expect(await runs.result(id)).toBe("All made.");
  });

  test("a worker that is closed in the middle of its work takes no further turn, and warns of nothing", async () => {
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
    const runs = await openRuns({ agents, limits, closeMs: 1_000, onWarning });
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
    const hold = (_: object, signal: AbortSignal) => {
      begun.resolve();
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          aborted.resolve();
          reject(new Error("stopped"));
        });
      });
    };
    const provider = new ScriptedProvider([{ calls: [{ name: "hold", args: {} }] }, "never"]);
    const [schema, admin] = [newSchema(), await openAdmin()];
    const runs = await work({ provider, tools: toolOf("hold", hold) }, { schema });
    const id = await runs.start("helper", "Hold.");
    await begun.promise;
    await admin.query(`UPDATE ${schema}.agent_runs SET status = 'cancelled'`);
    await aborted.promise;
    const workflow = `SELECT status FROM ${schema}.workflow_status WHERE workflow_uuid = $1`;
    expect((await admin.query(workflow, [id])).rows).toEqual([{ status: "CANCELLED" }]);
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

  test("a database that cannot be used is told in words, and so is work() without agents", async () => {
    const { databaseUrl } = server();
    for (const [address, code, word] of [
      [databaseUrl.replace(/:[0-9a-f]{32}@/, ":hush@"), "authentication", "password"],
      [databaseUrl.replace(/postgres$/, "nowhere"), "not_found", "createdb"],
    ] as const) {
      const error = await thrown(openRuns({ databaseUrl: address }));
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
  expect((await run).stdout).toMatch(/^missing_sdk .*npm install @dbos-inc\/dbos-sdk@5 pg\n$/);
});
