import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { sharedFolder } from "@toolcrib/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort, hasRestate, type RestateServer, startRestate } from "../../fixtures/restateServer.ts";
import type { RestateRun } from "./workflow.ts";

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

let server: RestateServer;
let worker: ChildProcess | undefined;
let ledger = "";
let port = 0;

async function startWorker(setup: object = {}): Promise<void> {
  const args = ["--import", file("../../../mcp/fixtures/sources.mjs"), file("../../fixtures/restateWorker.ts")];
  const given = JSON.stringify({ port, ledger, ...setup });
  worker = spawn(process.execPath, [...args, given], { stdio: ["ignore", "pipe", "ignore"] });
  await Promise.race([once(worker.stdout as NonNullable<typeof worker.stdout>, "data"), failed(worker)]);
}

async function failed(child: ChildProcess): Promise<never> {
  const [code] = await once(child, "close");
  throw new Error(`The worker ended with ${code}.`);
}

async function killWorker(): Promise<void> {
  const ended = worker?.exitCode === null && worker.signalCode === null ? once(worker, "close") : undefined;
  worker?.kill("SIGKILL");
  await ended;
}

/** The steps that ran for a run, without the process that ran them. */
function ledgerOf(run: string): string[] {
  const lines = existsSync(ledger) ? readFileSync(ledger, "utf8").split("\n") : [];
  return lines
    .filter((line) => line.includes(` ${run} `))
    .map((line) => line.replace(` ${run}`, "").replace(/ \d+$/, ""));
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(20);
}

const stateOf = async (run: string): Promise<RestateRun | null> => (await server.call(run, "get")) as RestateRun | null;
const untilStatus = (run: string, status: string) => until(async () => (await stateOf(run))?.status === status);
const start = (run: string, replies: readonly object[]): Promise<unknown> =>
  server.call(run, "run/send", { message: JSON.stringify(replies) });

describe.skipIf(!hasRestate)("runs on Restate", () => {
  const folder = sharedFolder("restate");
  beforeAll(async () => {
    ledger = join(folder, "ledger");
    port = await freePort();
    [server] = await Promise.all([startRestate(), startWorker()]);
    await server.register(port);
  });
  afterAll(async () => {
    await killWorker();
    await server?.stop();
  });

  test("a run takes its steps, side by side where they may, and gives its answer", async () => {
    const calls = ["a", "b", "c"].map((id) => ({ id, name: "look", args: { ms: 50 } }));
    const message = JSON.stringify([calls, [{ id: "d", name: "pay" }]]);
    const answer = await server.call("whole", "run", { message });
    expect(answer).toMatchObject({ answer: "ok a|ok b|ok c|ok d", usage: { inputTokens: 3, cost: 3 } });
    const lines = ledgerOf("whole");
    expect(lines.slice(1, 4).sort()).toEqual(["begin a", "begin b", "begin c"]);
    expect(await stateOf("whole")).toMatchObject({ status: "done", turns: 1, answer: "ok a|ok b|ok c|ok d" });
    await expect(server.call("whole", "send", "more")).rejects.toThrow("The run has ended");
  });

  test.each([
    ["look", "ok x|ok y", ["begin x", "begin x", "end x"]],
    ["put", "ok x|ok y", ["begin x", "begin x", "end x"]],
    ["pay", "Error executing pay: Interrupted; may have run|ok y", ["begin x"]],
  ])(
    "a worker killed while %s runs is followed by another; a call that must not run twice does not",
    async (name, answer, ran) => {
      await start(name, [[{ id: "x", name, args: { ms: 1500 } }], [{ id: "y", name: "pay" }]]);
      await until(() => ledgerOf(name).includes("begin x"));
      await killWorker();
      await startWorker();
      await untilStatus(name, "done");
      expect(await stateOf(name)).toMatchObject({ answer });
      expect(ledgerOf(name)).toEqual(["reply 1", ...ran, "reply 2", "begin y", "end y", "reply 3"]);
    },
  );

  test("a program goes on in another worker: its calls are the steps, and none runs twice that must not", async () => {
    const code = `const told = await Promise.all([1, 2, 3].map((ms) => tools.look({ ms })));
      for (const ms of [0, 1500, 0]) told.push(await tools.pay({ ms }).catch((error) => error.message));
      return told.concat(await tools.pay({ ask: "Pay?" })).join()`;
    await start("program", [[{ id: "p", name: "run_program", args: { code } }]]);
    await until(() => ledgerOf("program").includes("begin p:5"));
    await killWorker();
    await startWorker();
    await untilStatus("program", "waiting");
    expect(await stateOf("program")).toMatchObject({ pending: [{ callId: "p:7", within: "p" }] });
    await killWorker();
    await startWorker();
    await server.call("program", "approve", { "p:7": true });
    await untilStatus("program", "done");
    const answer = "ok p:1,ok p:2,ok p:3,ok p:4,Error executing pay: Interrupted; may have run,ok p:6,ok p:7";
    expect(await stateOf("program")).toMatchObject({ answer, turns: 2 });
    const began = ledgerOf("program").filter((line) => line.startsWith("begin"));
    expect(began.sort()).toEqual([1, 2, 3, 4, 5, 6, 7].map((number) => `begin p:${number}`));
  });

  test("a question waits without a worker; the answer lets the run go on in another", async () => {
    await start("asks", [
      [
        { id: "a", name: "put" },
        { id: "q", name: "pay", args: { ask: "Pay?" } },
      ],
    ]);
    await untilStatus("asks", "waiting");
    expect(await stateOf("asks")).toMatchObject({ pending: [{ callId: "q", question: { text: "Pay?" } }] });
    await expect(server.call("asks", "approve", { other: true })).rejects.toThrow("waiting are q");
    await expect(server.call("asks", "approve", { q: 1 })).rejects.toThrow("Answers must be an object");
    await killWorker();
    await startWorker();
    await server.call("asks", "send", "Be quick.");
    await server.call("asks", "approve", { q: true });
    await untilStatus("asks", "done");
    expect(await stateOf("asks")).toMatchObject({ turns: 2, answer: "ok a|ok q|Be quick." });
    expect(ledgerOf("asks")).toEqual(["reply 1", "begin a", "end a", "begin q", "end q", "reply 2"]);
    await expect(server.call("asks", "approve", { q: true })).rejects.toThrow("does not wait");
  });

  test("a message joins the run before its next request, once, also where a worker was killed in between", async () => {
    await start("sent", [[{ id: "a", name: "put", args: { ms: 600 } }], [{ id: "b", name: "put", args: { ms: 600 } }]]);
    await until(() => ledgerOf("sent").includes("begin a"));
    await server.call("sent", "send", "First.");
    await until(() => ledgerOf("sent").includes("begin b"));
    await server.call("sent", "send", "Second.");
    await killWorker();
    await startWorker();
    await untilStatus("sent", "done");
    expect(await stateOf("sent")).toMatchObject({ answer: "ok a|First.|ok b|Second." });
  });

  test("a cancel reaches the call that runs, and the run ends as cancelled", async () => {
    await start("cancelled", [[{ id: "a", name: "pay", args: { ms: 100_000 } }]]);
    await until(() => ledgerOf("cancelled").includes("begin a"));
    await server.cancel("cancelled");
    await until(() => ledgerOf("cancelled").includes("aborted a"));
    await untilStatus("cancelled", "cancelled");
    expect(ledgerOf("cancelled")).toEqual(["reply 1", "begin a", "aborted a"]);
    await expect(server.call("cancelled", "send", "more")).rejects.toThrow("The run has ended");
  });

  test("a failure ends the run with its words, and a wrong message is refused", async () => {
    await expect(server.call("failing", "run", { message: "no JSON" })).rejects.toThrow("is not valid JSON");
    expect(await stateOf("failing")).toMatchObject({ status: "failed", error: { code: "bad_reply" } });
    await expect(server.call("empty", "run", {})).rejects.toThrow("A message must be");
    expect(await stateOf("unknown")).toBeNull();
  });

  test("a worker with other tools does not go on with the run", async () => {
    await start("pinned", [[{ id: "q", name: "pay", args: { ask: "Pay?" } }]]);
    await untilStatus("pinned", "waiting");
    await killWorker();
    await startWorker({ extraTool: "other" });
    await server.call("pinned", "approve", { q: true });
    await sleep(500);
    expect(await stateOf("pinned")).toMatchObject({ status: "waiting" });
    await killWorker();
    await startWorker();
    await untilStatus("pinned", "done");
    expect(ledgerOf("pinned")).toEqual(["reply 1", "begin q", "end q", "reply 2"]);
  });
});
