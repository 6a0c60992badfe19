import { type Answers, isAgentError, type Message, type Provider } from "@toolcrib/agent";
import { ScriptedProvider, type ScriptedReply } from "@toolcrib/agent/testing";
import type { ToolRegistry } from "@toolcrib/core";
import { hasPostgres } from "@toolcrib/testing/postgres";
import { describe, expect, test } from "vitest";
import { callOnce, newSchema, openAdmin, shareServer, thrown, toolOf } from "../../fixtures/runs.ts";
import type { DurableRuns } from "../index.ts";

const { openRuns, work } = shareServer();

const script = (...replies: ScriptedReply[]): Provider => new ScriptedProvider(replies);
const calls = (...texts: string[]) => ({ calls: texts.map((text) => ({ name: "note", args: { text } })) });
const notes = (execute: (text: string, signal: AbortSignal) => unknown = (text) => `noted ${text}`): ToolRegistry =>
  toolOf("note", ({ text }, signal) => execute(String(text), signal));

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
    for (let index = 0; index < 50; index += 1) {
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
    const error = await thrown(runs.result(id));
    expect(isAgentError(error) && error).toMatchObject({ code: "rate_limit", status: 429, message: "Slow down." });
    expect(await runs.get(id)).toMatchObject({ status: "failed", error: { message: "Slow down." } });
    await runs.send(id, "Again.");
    expect(await runs.result(id)).toBe("Better.");
    expect(await runs.get(id)).toMatchObject({ status: "done", turns: 2 });
  });

  test("a question waits without a worker, and the answer lets the run go on in another", async () => {
    const tools = notes().guard(() => ({ ask: "May it?" }));
    const agent = { provider: callOnce("note", { text: "a" }), tools };
    const schema = newSchema();
    const first = await work(agent, { schema });
    const id = await first.start("helper", "Take a note.");
    const asked = await thrown(first.result(id));
    expect(asked).toMatchObject({ code: "ended", reason: "approval", pending: [{ callId: "c" }] });
    await first.close();
    const client = await openRuns({ schema });
    expect(await client.get(id)).toMatchObject({ status: "waiting", pending: [{ question: { text: "May it?" } }] });
    await expect(client.approve(id, { other: true })).rejects.toMatchObject({ code: "invalid_option" });
    await client.approve(id, { c: true });
    await expect(client.approve(id, { c: true })).rejects.toMatchObject({ code: "invalid_option" });
    await work(agent, { schema });
    expect(await client.result(id)).toBe("noted a");
    expect(await client.get(id)).toMatchObject({ status: "done", turns: 2 });
  });

  test("a message reaches a running run before its next request, and a finished one goes on", async () => {
    const requests: string[] = [];
    const gate = Promise.withResolvers<string>();
    const usersOf = (messages: readonly Message[]): string =>
      messages
        .flatMap((message) => (message.role === "user" ? message.content : []))
        .map((block) => (block.type === "text" ? block.text : ""))
        .join("|");
    const echo = callOnce("note", { text: "a" }, usersOf);
    const provider: Provider = {
      ...echo,
      send(request) {
        requests.push(usersOf(request.messages));
        return echo.send(request);
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
          signal.addEventListener("abort", () => {
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
    const result = thrown(runs.result(id));
    await runs.cancel(id);
    await ended.promise;
    expect(await result).toMatchObject({ code: "aborted" });
    await runs.cancel(id);
    await expect(runs.send(id, "More.")).rejects.toMatchObject({ code: "invalid_option" });
    expect((await runs.list({ status: "cancelled" })).map((run) => run.id).sort()).toEqual([id, queued].sort());
  });

  test("a run that has ended is removed with all its records, and its id is free again", async () => {
    const [schema, admin] = [newSchema(), await openAdmin()];
    const runs = await work({ provider: script(calls("a"), "One.", "Two.", "Three."), tools: notes() }, { schema });
    await runs.start("helper", "Hello.", { id: "r" });
    await runs.result("r");
    await runs.send("r", "More.");
    await runs.result("r");
    await runs.remove("r");
    expect(await runs.get("r")).toBeUndefined();
    for (const table of ["workflow_input", "workflow_output", "operation_outputs", "workflow_status", "agent_runs"]) {
      const { rows } = await admin.query(`SELECT count(*)::int AS count FROM ${schema}.${table}`);
      expect(rows, table).toEqual([{ count: 0 }]);
    }
    await runs.start("helper", "Hello.", { id: "r" });
    expect(await runs.result("r")).toBe("Three.");
    await runs.close();
    const client = await openRuns({ schema });
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
    const ended = [runs.result(id, { signal: control.signal }), runs.result(id)].map(thrown);
    control.abort();
    expect(await ended[0]).toMatchObject({ code: "aborted" });
    expect(await thrown(runs.result(id, { signal: control.signal }))).toMatchObject({ code: "aborted" });
    await runs.close();
    expect(await ended[1]).toMatchObject({ code: "aborted" });
    await expect(runs.get(id)).rejects.toMatchObject({ code: "invalid_option" });
    await runs.close();
  });

  test("what is passed wrongly is refused in words by each method, and so is a run that is not there", async () => {
    const runs = await openRuns({ agents: { helper: { provider: script() } } });
    const bad = <T>(value: unknown): T => value as T;
    for (const call of [
      () => runs.start("nobody", "Hello."),
      () => runs.start(bad(undefined), "Hello."),
      () => runs.start("helper", ""),
      () => runs.start("helper", "Hello.", { id: "a::2" }),
      () => runs.get(bad(7)),
      () => runs.result(bad(7)),
      () => runs.cancel(bad(7)),
      () => runs.remove(bad(7)),
      () => runs.approve("x", bad<Answers>({})),
      () => runs.send("x", bad(7)),
      () => runs.list({ limit: 0 }),
      () => runs.result("x", bad({ signal: {} })),
    ])
      expect(await thrown(call()), String(call)).toMatchObject({ code: "invalid_option" });
    for (const call of [
      () => runs.result("x"),
      () => runs.cancel("x"),
      () => runs.send("x", "y"),
      () => runs.approve("x", { a: true }),
    ])
      expect(await thrown(call()), String(call)).toMatchObject({ code: "not_found" });
    expect(await runs.get("x")).toBeUndefined();
  });
});
