import { AgentError } from "@toolcrib/agent";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { afterEach, expect, test, vi } from "vitest";
import { base, openPage, post, reloadPage, say, startServer, textOf, toolPart } from "../testing/server.ts";
import type { DurableSession, RunsByShape } from "./sessions.ts";

type Run = NonNullable<Awaited<ReturnType<RunsByShape["get"]>>>;

afterEach(() => void vi.useRealTimers());

const question = { callId: "c", name: "pay", args: { amount: 5 }, question: { text: "May it pay?" } };

/** Has runs that a test moves on, and what was done to them. */
function runsOf(run: Run | undefined): DurableSession & { run: string; now: Run | undefined; done: unknown[] } {
  const done: unknown[] = [];
  const session = { run: "r", now: run, done, runs: {} as RunsByShape };
  const begins = (what: unknown): Promise<void> => {
    done.push(what);
    session.now = { status: "running" };
    return Promise.resolve();
  };
  session.runs = {
    get: async () => session.now,
    approve: (_id, answers) => begins(answers),
    send: (_id, text) => begins(text),
    cancel: async () => {
      session.now = { status: "cancelled" };
    },
  };
  return session;
}

function serve(session: DurableSession) {
  return startServer(temporaryFolder("page"), [], { open: () => session });
}

test("a durable run shows its questions, takes the answers, and its answer is awaited", async () => {
  const session = runsOf({ status: "waiting", pending: [question] });
  const server = serve(session);
  const page = await reloadPage(server);
  const asked = toolPart(page.lastMessage, "pay");
  expect(asked?.state).toBe("approval-requested");
  await page.addToolApprovalResponse({ id: asked?.approval?.id ?? "", approved: true });
  await vi.waitUntil(() => session.done.length > 0);
  session.now = { status: "done", answer: "Paid." };
  await vi.waitUntil(() => textOf(page.lastMessage) === "Paid.", 5000);
  expect(session.done).toEqual([{ c: true }]);
  expect(textOf((await reloadPage(server)).lastMessage)).toBe("Paid.");
});

test("a run that fails, or is stopped, says so", async () => {
  const session = runsOf({ status: "done", answer: "Hello." });
  const server = serve(session);
  const page = openPage(server);
  const sent = page.sendMessage({ text: "more" });
  await vi.waitUntil(() => session.done.length > 0);
  session.now = { status: "failed", error: new AgentError({ code: "network", message: "The line is dead." }) };
  await sent;
  expect([session.done, page.error?.message]).toEqual([["more"], "The line is dead."]);
  session.now = { status: "running" };
  const reader = await server.handle(new Request(`${base}/chat/stream`));
  expect((await server.handle(new Request(`${base}/chat/stop`, { method: "POST" }))).status).toBe(204);
  expect(await reader.text()).toContain('"type":"abort"');
});

test("a message to a run that works, a picture and an unknown run are refused", async () => {
  const session = runsOf({ status: "running" });
  expect((await serve(session).handle(post(say("hi")))).status).toBe(409);
  session.now = { status: "done", answer: "" };
  const parts = [{ type: "file", mediaType: "image/png", url: "data:image/png;base64,aGk=" }];
  const picture = await serve(session).handle(post({ id: "chat", messages: [{ role: "user", parts }] }));
  expect([picture.status, await picture.text()]).toEqual([400, "A durable run takes text alone."]);
  expect((await serve(runsOf(undefined)).handle(post(say("hi")))).status).toBe(404);
  expect((await serve(session).handle(new Request(`${base}/chat/stream`))).status).toBe(204);
});
