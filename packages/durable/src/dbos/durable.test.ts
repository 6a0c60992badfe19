import { type Answers, isAgentError, type Provider } from "@toolcrib/agent";
import { ScriptedProvider, type ScriptedReply } from "@toolcrib/agent/testing";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { hasPostgres } from "@toolcrib/testing";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { shareServer } from "../../fixtures/runs.ts";
import type { DurableRuns } from "../index.ts";

const shared = shareServer();
const { openRuns, work } = shared;

const script = (...replies: ScriptedReply[]): Provider => new ScriptedProvider(replies);
const calls = (...texts: string[]) => ({ calls: texts.map((text) => ({ name: "note", args: { text } })) });

function notes(execute: (text: string, signal?: AbortSignal) => string | Promise<string> = (text) => `noted ${text}`) {
  return new ToolRegistry([
    defineTool({
      name: "note",
      description: "Takes a note.",
      parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      execute: ({ text }, call) => execute(text, call?.signal),
    }),
  ]);
}

describe.skipIf(!hasPostgres)("durable runs", () => {
  test("a run takes its steps, gives its answer and says what it has cost", async () => {
    const texts: string[] = [];
    const usage = { inputTokens: 3, outputTokens: 2, cost: 0.5 };
    const provider = script({ text: "A note.", ...calls("one"), usage }, { text: "Done.", usage });
    const tools = notes((text) => `${texts.push(text)}`);
    const runs = await openRuns({ agents: { helper: { provider, tools } } });
    const id = await runs.start("helper", "Take a note.", { tenant: "acme", labels: { user: 7 } });
    expect(await runs.get(id)).toMatchObject({ status: "queued", detail: expect.stringContaining("work()") });
    await runs.work();
    expect(await runs.result(id)).toBe("Done.");
    expect(texts).toEqual(["one"]);
    expect(await runs.get(id)).toMatchObject({
      ...{ id, agent: "helper", tenant: "acme", labels: { user: 7 }, status: "done", answer: "Done." },
      ...{ turns: 1, attempts: 1, usage: { inputTokens: 6, outputTokens: 4, cost: 1 } },
    });
  });

  test("the same id twice is the same run", async () => {
    const runs = await work({ provider: script("One.", "Two.") });
    expect(await Promise.all([1, 2, 3].map(() => runs.start("helper", "Hello.", { id: "once" })))).toEqual(
      Array(3).fill("once"),
    );
    expect(await runs.result("once")).toBe("One.");
    await runs.start("helper", "Hello.", { id: "once" });
    expect(await runs.result("once")).toBe("One.");
    expect(await runs.list()).toHaveLength(1);
  });

  test("the same id is the same run, however many ask for it at the same moment", async () => {
    const runs = await openRuns();
    for (let index = 0; index < 300; index += 1) {
      const id = `r${index}`;
      const starts = Array.from({ length: 8 }, () => runs.start("helper", "Hello.", { id }));
      expect(await Promise.all(starts)).toEqual(Array(8).fill(id));
    }
  });

  test("ids, tenants and texts may hold any character that is text, and labels any JSON", async () => {
    const text = "\u0000 \u2028 \ud83d\ude00 '\"\\ \ud800";
    const runs = await work({ provider: script(calls(text), { text }), tools: notes(() => text) });
    const ids = ["order:17", "a/b c", "é😀", "'; DROP TABLE x; --", "%", "__proto__", "a:"];
    const labels = JSON.parse('{"__proto__": {"a": "\\u0000"}, "constructor": [1]}');
    const id = await runs.start("helper", text, { id: "order:17", tenant: "'; --", labels });
    // The agent itself replaces halves of characters.
    expect(await runs.result(id)).toBe(text.replace("\ud800", "\ufffd"));
    expect(JSON.stringify((await runs.get(id))?.labels)).toBe(JSON.stringify(labels));
    for (const other of ids.slice(1)) {
      await runs.start("helper", "Hello.", { id: other });
      expect((await runs.get(other))?.id).toBe(other);
    }
  });

  test("a failed run throws what the agent would throw, and goes on with a further message", async () => {
    const { AgentError } = await import("@toolcrib/agent");
    const failure = new AgentError({ code: "rate_limit", message: "Slow down.", status: 429 });
    const runs = await work({ provider: script(failure, "Better."), attempts: 1 });
    const id = await runs.start("helper", "Hello.");
    const error = await runs.result(id).catch((thrown: unknown) => thrown);
    expect(isAgentError(error) && error).toMatchObject({ code: "rate_limit", status: 429, message: "Slow down." });
    expect(await runs.get(id)).toMatchObject({ status: "failed", error: { message: "Slow down." } });
    await runs.send(id, "Again.");
    expect(await runs.result(id)).toBe("Better.");
    expect(await runs.get(id)).toMatchObject({ status: "done", turns: 2 });
  });

  test("a question waits without a worker, and the answer lets the run go on in another", async () => {
    const tools = notes().guard(() => ({ ask: "May it?" }));
    const agent = { provider: script({ calls: [{ id: "n1", name: "note", args: { text: "a" } }] }), tools };
    const schema = "approvals";
    const first = await work(agent, { schema });
    const id = await first.start("helper", "Take a note.");
    const asked = await first.result(id).catch((thrown: unknown) => thrown);
    expect(asked).toMatchObject({ code: "ended", reason: "approval", pending: [{ callId: "n1" }] });
    await first.close();
    const client = await openRuns({ schema });
    expect(await client.get(id)).toMatchObject({ status: "waiting", pending: [{ question: { text: "May it?" } }] });
    await expect(client.approve(id, { other: true })).rejects.toMatchObject({ code: "invalid_option" });
    await client.approve(id, { n1: true });
    await expect(client.approve(id, { n1: true })).rejects.toMatchObject({ code: "invalid_option" });
    const provider: Provider = {
      ...{ name: "last", model: "last" },
      async *send({ messages }) {
        const last = messages.at(-1);
        const text = last?.role === "tool" ? last.output : "";
        yield { type: "reply", message: { role: "assistant", content: [{ type: "text", text }] }, stop: "stop" };
      },
    };
    await work({ provider, tools }, { schema });
    expect(await client.result(id)).toBe("noted a");
    expect(await client.get(id)).toMatchObject({ status: "done", turns: 2 });
  });

  test("a message reaches a running run before its next request, and a finished one goes on", async () => {
    const requests: string[] = [];
    const gate = Promise.withResolvers<string>();
    const provider: Provider = {
      ...{ name: "echo", model: "echo" },
      async *send({ messages }) {
        const users = messages.flatMap((message) =>
          message.role === "user" && message.content[0]?.type === "text" ? [message.content[0].text] : [],
        );
        requests.push(users.join("|"));
        const isFirst = requests.length === 1;
        const content = isFirst
          ? [{ type: "tool-call" as const, id: "c1", name: "note", args: { text: "a" } }]
          : [{ type: "text" as const, text: users.join("|") }];
        yield { type: "reply", message: { role: "assistant", content }, stop: isFirst ? "tool-calls" : "stop" };
      },
    };
    const runs = await work({ provider, tools: notes(() => gate.promise) });
    const id = await runs.start("helper", "one");
    await expect.poll(() => requests.length).toBe(1);
    await runs.send(id, "two");
    await runs.send(id, "three");
    gate.resolve("noted");
    expect(await runs.result(id)).toBe("one|two|three");
    await runs.send(id, "four");
    expect(await runs.result(id)).toBe("one|two|three|four");
    expect(requests).toEqual(["one", "one|two|three", "one|two|three|four"]);
  });

  test("a cancel ends a queued run, and reaches the call of a running one by its signal", async () => {
    const started = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const tools = notes(
      (_, signal) =>
        new Promise((_resolve, reject) => {
          started.resolve();
          signal?.addEventListener("abort", () => {
            ended.resolve();
            reject(new Error("stopped"));
          });
        }),
    );
    const agents = { helper: { provider: script(calls("a"), "never"), tools } };
    const runs = await openRuns({ agents });
    const queued = await runs.start("helper", "One.");
    await runs.cancel(queued);
    expect(await runs.get(queued)).toMatchObject({ status: "cancelled" });
    await runs.work();
    const id = await runs.start("helper", "Two.");
    await started.promise;
    const result = runs.result(id).catch((thrown: unknown) => thrown);
    await runs.cancel(id);
    await ended.promise;
    expect(await result).toMatchObject({ code: "aborted" });
    await runs.cancel(id);
    await expect(runs.send(id, "More.")).rejects.toMatchObject({ code: "invalid_option" });
    expect((await runs.list({ status: "cancelled" })).map((run) => run.id).sort()).toEqual([id, queued].sort());
  });

  test("a run that has ended is removed with all its records, and its id is free again", async () => {
    const { databaseUrl } = shared.server;
    const runs = await work(
      { provider: script(calls("a"), "One.", "Two.", "Three."), tools: notes() },
      { schema: "removed" },
    );
    await runs.start("helper", "Hello.", { id: "r" });
    await runs.result("r");
    await runs.send("r", "More.");
    await runs.result("r");
    await runs.remove("r");
    expect(await runs.get("r")).toBeUndefined();
    const database = new pg.Client({ connectionString: databaseUrl });
    await database.connect();
    for (const table of ["workflow_input", "workflow_output", "operation_outputs", "workflow_status", "agent_runs"]) {
      const { rows } = await database.query(`SELECT count(*)::int AS count FROM removed.${table}`);
      expect(rows, table).toEqual([{ count: 0 }]);
    }
    await database.end();
    await runs.start("helper", "Hello.", { id: "r" });
    expect(await runs.result("r")).toBe("Three.");
    await runs.close();
    const client = await openRuns({ schema: "removed" });
    await client.start("helper", "Hello.", { id: "q" });
    await expect(client.remove("q")).rejects.toMatchObject({ code: "invalid_option" });
    await client.cancel("q");
    await client.remove("q");
    await expect(client.remove("q")).rejects.toMatchObject({ code: "not_found" });
  });

  test("runs are listed by status, tenant and agent, the newest first", async () => {
    const agents = { helper: { provider: script("One.") }, other: { provider: script("Two.") } };
    const runs = await openRuns({ agents });
    // Runs of one millisecond are in the order of their ids.
    const ids = ["d", "c", "b", "a"];
    for (const [at, tenant] of ["a", "b", "a"].entries()) await runs.start("helper", "Hello.", { id: ids[at], tenant });
    await runs.start("other", "Hello.", { id: ids[3] });
    const found = async (...args: Parameters<DurableRuns["list"]>): Promise<number[]> =>
      (await runs.list(...args)).map(({ id }) => ids.indexOf(id));
    expect(await found()).toEqual([3, 2, 1, 0]);
    expect(await found({ tenant: "a" })).toEqual([2, 0]);
    expect(await found({ agent: "other" })).toEqual([3]);
    expect(await found({ limit: 1, status: "queued" })).toEqual([3]);
    expect(await found({ status: "done" })).toEqual([]);
  });

  test("waiting for a result ends with its signal, and with close", async () => {
    const runs = await openRuns({ agents: { helper: { provider: script() } } });
    const id = await runs.start("helper", "Hello.");
    const control = new AbortController();
    const ended = [runs.result(id, { signal: control.signal }), runs.result(id)].map((result) =>
      result.catch((thrown: unknown) => thrown),
    );
    control.abort();
    expect(await ended[0]).toMatchObject({ code: "aborted" });
    expect(await runs.result(id, { signal: control.signal }).catch((thrown: unknown) => thrown)).toMatchObject({
      code: "aborted",
    });
    await runs.close();
    expect(await ended[1]).toMatchObject({ code: "aborted" });
    await expect(runs.get(id)).rejects.toMatchObject({ code: "invalid_option" });
    await runs.close();
  });

  test("what is passed wrongly is refused in words", async () => {
    const runs = await openRuns({ agents: { helper: { provider: script() } } });
    const bad = <T>(value: unknown): T => value as T;
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    const refused: readonly (() => Promise<unknown>)[] = [
      () => runs.start("nobody", "Hello."),
      () => runs.start(bad(undefined), "Hello."),
      () => runs.start("helper", ""),
      () => runs.start("helper", bad(7)),
      () => runs.start("helper", "Hello.", bad({ ID: "x" })),
      ...["", " ", "a::2", "a\u0000", "\ud800", "x".repeat(201), 7, null].map(
        (id) => () => runs.start("helper", "Hello.", { id: bad(id) }),
      ),
      ...[0.5, Number.NaN, 1e7, "1"].map(
        (priority) => () => runs.start("helper", "Hello.", { priority: bad(priority) }),
      ),
      ...[[], cyclic, { n: 1n }].map((labels) => () => runs.start("helper", "Hello.", { labels: bad(labels) })),
      () => runs.start("helper", bad([{ type: "text", text: "Hello.", more: cyclic }])),
      () => runs.start("helper", "Hello.", bad("x")),
      ...[undefined, "", {}].flatMap((id) => [
        () => runs.get(bad(id)),
        () => runs.result(bad(id)),
        () => runs.cancel(bad(id)),
      ]),
      ...[{}, [], null, "yes", { a: 1 }].map((answers) => () => runs.approve("x", bad<Answers>(answers))),
      ...["", 7, undefined].map((text) => () => runs.send("x", bad(text))),
      ...[{ status: "gone" }, { limit: 0 }, { limit: "1" }, { tenants: "a" }].map(
        (options) => () => runs.list(bad(options)),
      ),
      () => runs.result("x", bad({ signal: {} })),
    ];
    for (const call of refused)
      expect(await call().catch((thrown: unknown) => thrown), String(call)).toMatchObject({ code: "invalid_option" });
    for (const call of [
      () => runs.result("x"),
      () => runs.cancel("x"),
      () => runs.send("x", "y"),
      () => runs.approve("x", { a: true }),
    ])
      expect(await call().catch((thrown: unknown) => thrown), String(call)).toMatchObject({ code: "not_found" });
    expect(await runs.get("x")).toBeUndefined();
  });
});
