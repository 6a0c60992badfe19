import { appendFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Agent, AgentError } from "@toolcrib/agent";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  gate,
  openPage,
  post,
  reloadPage,
  type Server,
  type ServerOptions,
  say,
  startServer,
  textOf,
  toolPart,
} from "../testing/server.ts";
import { openAgent, PageSessions } from "./index.ts";
import type { AgentLiveSession } from "./liveSession.ts";
import { opener } from "./pageSessions.ts";

const payment = { text: "I pay.", calls: [{ name: "pay", args: { amount: 5 } }] };

/** Starts a server that ends with the test. */
function serve(replies: Parameters<typeof startServer>[1], options?: ServerOptions): Server {
  return startServer(temporaryFolder("page"), replies, options);
}

function approvalOf(page: ReturnType<typeof openPage>): { readonly id: string; readonly requestReason?: string } {
  const part = toolPart(page.lastMessage, "pay");
  if (part?.state !== "approval-requested") throw new Error(`not asked: ${JSON.stringify(part)}`);
  return part.approval;
}

test("a page sends a message, and gets its calls and the answer; the session has the same", async () => {
  const server = serve([{ reasoning: "hm", calls: [{ name: "look" }] }, "There it is."]);
  const page = openPage(server);
  await page.sendMessage({ text: "look" });
  expect([page.status, page.error]).toEqual(["ready", undefined]);
  expect(toolPart(page.lastMessage, "look")).toMatchObject({ state: "output-available", output: "seen" });
  expect(textOf(page.lastMessage)).toBe("There it is.");
  expect(page.lastMessage?.metadata).toMatchObject({ endReason: "stop" });
  const { messages } = await reloadPage(server);
  expect(messages.at(-1)?.parts.map(({ type }) => type)).toEqual(page.lastMessage?.parts.map(({ type }) => type));
  expect(messages.at(-1)?.id).toBe(page.lastMessage?.id);
});

test("a yes runs the call that was asked about, and the turn goes on in the same message", async () => {
  const server = serve([payment, "Paid."]);
  const page = openPage(server);
  await page.sendMessage({ text: "pay" });
  expect(approvalOf(page).requestReason).toBe("May it pay?");
  expect(page.lastMessage?.metadata).toMatchObject({ endReason: "approval" });
  await page.addToolApprovalResponse({ id: approvalOf(page).id, approved: true });
  await vi.waitUntil(() => page.status === "ready" && textOf(page.lastMessage).endsWith("Paid."));
  expect(server.ran).toEqual([{ amount: 5 }]);
  expect(page.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  expect(toolPart(page.lastMessage, "pay")).toMatchObject({ state: "output-available", output: "paid" });
});

test("a no with a reason reaches the model, and nothing runs", async () => {
  const server = serve([payment, "Then not."]);
  const page = openPage(server);
  await page.sendMessage({ text: "pay" });
  await page.addToolApprovalResponse({ id: approvalOf(page).id, approved: false, reason: "too much" });
  await vi.waitUntil(() => page.status === "ready" && textOf(page.lastMessage).endsWith("Then not."));
  expect(server.ran).toEqual([]);
  expect(toolPart(page.lastMessage, "pay")?.errorText).toContain("too much");
});

test("other arguments, words and always are answers in the body", async () => {
  const remembered: unknown[] = [];
  const policy = { remember: async (_call: unknown, { data }: { data?: unknown }) => void remembered.push(data) };
  const server = serve([payment, "One.", payment, "Two."], { session: { policy } });
  const page = openPage(server);
  for (const [answer, ran] of [
    [{ args: { amount: 1 } }, { amount: 1 }],
    [{ always: true }, { amount: 5 }],
  ] as const) {
    await page.sendMessage({ text: "pay" });
    const { id } = approvalOf(page);
    const callId = toolPart(page.lastMessage, "pay")?.toolCallId ?? "";
    await page.addToolApprovalResponse({ id, approved: true, options: { body: { answers: { [callId]: answer } } } });
    await vi.waitUntil(() => page.status === "ready" && server.ran.length > 0);
    expect(server.ran.splice(0)).toEqual([ran]);
  }
  expect(remembered).toEqual([{ remember: { text: "pay" } }]);
});

test("always is refused where nothing remembers it, and the question stays", async () => {
  const server = serve([payment, "Paid."]);
  const page = openPage(server);
  await page.sendMessage({ text: "pay" });
  const answers = { [toolPart(page.lastMessage, "pay")?.toolCallId ?? ""]: { always: true } };
  const refused = await server.handle(post({ id: "chat", messages: page.messages, answers }));
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("send true instead")]);
  await page.addToolApprovalResponse({ id: approvalOf(page).id, approved: true });
  await vi.waitUntil(() => textOf(page.lastMessage).endsWith("Paid."));
});

test("a page that is reloaded in the middle of an answer goes on with it, and has all of it", async () => {
  const held = gate();
  const server = serve([{ text: "I look.", calls: [{ name: "look" }] }, held.reply("There it is.")]);
  const page = openPage(server);
  void page.sendMessage({ text: "look" });
  await held.reached;
  await page.stop();
  const reloaded = await reloadPage(server);
  expect(reloaded.messages.map(({ role }) => role)).toEqual(["user"]);
  const resumed = reloaded.resumeStream();
  held.open();
  await resumed;
  expect(textOf(reloaded.lastMessage)).toBe("I look.There it is.");
  expect(reloaded.messages).toEqual(
    (await reloadPage(server)).messages.map((one) => expect.objectContaining({ id: one.id })),
  );
});

test("a page that is reloaded after a yes has the message from its beginning, once", async () => {
  const held = gate();
  const server = serve([payment, held.reply("Paid.")]);
  const page = openPage(server);
  await page.sendMessage({ text: "pay" });
  void page.addToolApprovalResponse({ id: approvalOf(page).id, approved: true });
  await held.reached;
  const reloaded = await reloadPage(server);
  const resumed = reloaded.resumeStream();
  held.open();
  await resumed;
  expect(textOf(reloaded.lastMessage)).toBe("I pay.Paid.");
  expect(reloaded.lastMessage?.parts.filter(({ type }) => type === "dynamic-tool")).toHaveLength(1);
  expect(toolPart(reloaded.lastMessage, "pay")).toMatchObject({ state: "output-available" });
});

test("a second tab reads the running turn, and may not start another", async () => {
  const held = gate();
  const server = serve([held.reply("Both see it.")]);
  const first = openPage(server);
  const sent = first.sendMessage({ text: "hi" });
  await held.reached;
  const refused = await server.handle(post(say("me too")));
  expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining("A turn is running")]);
  const second = await reloadPage(server);
  const read = second.resumeStream();
  held.open();
  await Promise.all([sent, read]);
  expect([textOf(first.lastMessage), textOf(second.lastMessage)]).toEqual(["Both see it.", "Both see it."]);
  expect(second.messages).toHaveLength(2);
});

test("a question waits for the next process, which can answer it once", async () => {
  const folder = temporaryFolder("page");
  const before = startServer(folder, [payment]);
  const page = openPage(before);
  await page.sendMessage({ text: "pay" });
  await before.sessions.close();
  const after = startServer(folder, ["Paid."]);
  const reloaded = await reloadPage(after);
  expect(approvalOf(reloaded)).toEqual(approvalOf(page));
  const answered = reloaded.addToolApprovalResponse({ id: approvalOf(reloaded).id, approved: true });
  await answered;
  await vi.waitUntil(() => textOf(reloaded.lastMessage).endsWith("Paid."));
  expect([before.ran, after.ran]).toEqual([[], [{ amount: 5 }]]);
  expect(reloaded.messages).toHaveLength(2);
  // The other tab still shows the question.
  await page.addToolApprovalResponse({ id: approvalOf(page).id, approved: true });
  const again = await after.handle(post({ id: "chat", messages: page.messages }));
  expect([again.status, await again.text()]).toEqual([409, expect.stringContaining("was answered already")]);
  expect(after.ran).toHaveLength(1);
});

test("a turn goes on after its last reader has left, for as long as the option says", async () => {
  const held = gate();
  const [asked, stopped] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  const server = serve(
    [
      held.reply("Still here."),
      ({ signal }) =>
        new Promise((_, reject) => {
          asked.resolve();
          signal.addEventListener("abort", () => [stopped.resolve("stopped"), reject(signal.reason)]);
        }),
      "Again.",
    ],
    { lingerMs: 60 },
  );
  const page = openPage(server);
  const sent = page.sendMessage({ text: "hi" });
  await held.reached;
  await page.stop();
  await sent;
  held.open();
  await vi.waitUntil(async () => textOf((await reloadPage(server)).lastMessage) === "Still here.");
  const next = openPage(server);
  const left = next.sendMessage({ text: "and now" });
  await asked.promise;
  await next.stop();
  await left;
  expect(await stopped.promise).toBe("stopped");
  await vi.waitUntil(async () => (await server.handle(post(say("again")))).status === 200);
  await vi.waitUntil(async () => textOf((await reloadPage(server)).lastMessage) === "Again.");
});

test("stop is a route of its own: the turn ends for all its readers, and its text is kept", async () => {
  const server = serve([
    async function* ({ signal }) {
      yield { type: "text-delta", text: "half an " } as const;
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
    "And on.",
  ]);
  const page = openPage(server);
  const sent = page.sendMessage({ text: "hi" });
  await vi.waitUntil(() => textOf(page.lastMessage) !== "" && page.lastMessage?.role === "assistant");
  const stopped = await server.handle(new Request("http://page.test/api/chat/chat/stop", { method: "POST" }));
  expect(stopped.status).toBe(204);
  await sent;
  expect([page.status, textOf(page.lastMessage)]).toEqual(["ready", "half an"]);
  expect(page.lastMessage?.metadata).toMatchObject({ endReason: "stopped" });
  expect(textOf((await reloadPage(server)).lastMessage)).toBe("half an");
  await page.sendMessage({ text: "go on" });
  expect(textOf(page.lastMessage)).toBe("And on.");
});

test("a turn that fails is an error of the page in words, and the session goes on", async () => {
  const server = serve([new AgentError({ code: "not_found", message: "There is no such model." }), "Better."]);
  const page = openPage(server);
  await page.sendMessage({ text: "hi" });
  expect([page.status, page.error?.message]).toEqual(["error", "There is no such model."]);
  await page.sendMessage({ text: "again" });
  expect(textOf(page.lastMessage)).toBe("Better.");
});

test("what a provider or the policy throws is logged, and its words do not reach the page", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  onTestFinished(() => log.mockRestore());
  const policy = { remember: () => Promise.reject(new Error("disk full: /secret/file")) };
  const server = serve([new Error("secret of the provider"), payment], { session: { policy } });
  const page = openPage(server);
  await page.sendMessage({ text: "hi" });
  expect(page.error?.message).toBe("Something went wrong on the server. Its log has the details.");
  await page.sendMessage({ text: "pay" });
  const answers = { [toolPart(page.lastMessage, "pay")?.toolCallId ?? ""]: { always: true } };
  const refused = await server.handle(post({ id: "chat", messages: page.messages, answers }));
  const words = "The answer cannot be remembered: the server's log says why. Send true instead.";
  expect([refused.status, await refused.text()]).toEqual([400, words]);
  const logged = log.mock.calls.map(([error]) => String(error));
  expect(logged).toEqual([expect.stringContaining("secret of the provider"), "Error: disk full: /secret/file"]);
});

test("of two messages, or two answers, that come at once, one is taken", async () => {
  const server = serve([payment, "Paid."]);
  const statuses = async (body: object): Promise<number[]> => {
    const replies = await Promise.all([1, 2].map(() => server.handle(post(body))));
    await Promise.all(replies.map((reply) => reply.text()));
    return replies.map(({ status }) => status).sort();
  };
  expect(await statuses(say("pay"))).toEqual([200, 409]);
  const { messages } = await reloadPage(server);
  const answers = { [toolPart(messages.at(-1), "pay")?.toolCallId ?? ""]: true };
  expect(await statuses({ id: "chat", messages, answers })).toEqual([200, 409]);
  expect(server.ran).toEqual([{ amount: 5 }]);
});

test("requests that come at once share one agent, and a session that is left is opened anew", async () => {
  let made = 0;
  const closed: number[] = [];
  const folder = temporaryFolder("page");
  const journal = `${folder}/one.jsonl`;
  const provider = new ScriptedProvider(["One.", "Two."]);
  const server = serve([], {
    lingerMs: 20,
    open: () => ({
      journal,
      agent: () => {
        made += 1;
        return openAgent(provider, journal);
      },
      close: () => void closed.push(made),
    }),
  });
  await Promise.all([1, 2, 3].map(() => server.handle(new Request("http://page.test/api/chat/chat"))));
  const page = openPage(server);
  await page.sendMessage({ text: "hi" });
  expect(made).toBe(1);
  await vi.waitUntil(() => closed.length === 1);
  await page.sendMessage({ text: "again" });
  expect([textOf(page.lastMessage), made, page.messages.length]).toEqual(["Two.", 2, 4]);
  expect((await reloadPage(server)).messages).toHaveLength(4);
});

test("a shortened conversation replaces no message of the page", async () => {
  const server = serve([
    { calls: [{ name: "look" }, { name: "look" }] },
    "One.",
    "Two.",
    "A summary.",
    payment,
    "Paid.",
    "Three.",
  ]);
  const page = openPage(server);
  await page.sendMessage({ text: "one" });
  await page.sendMessage({ text: "two" });
  expect(await server.agents.at(-1)?.compact()).toBeDefined();
  await page.sendMessage({ text: "pay" });
  await page.addToolApprovalResponse({ id: approvalOf(page).id, approved: true });
  await vi.waitUntil(() => page.status === "ready" && textOf(page.lastMessage).endsWith("Paid."));
  await page.sendMessage({ text: "three" });
  const replies = page.messages.filter(({ role }) => role === "assistant").map(textOf);
  expect(replies).toEqual(["One.", "Two.", "I pay.Paid.", "Three."]);
});

test("an answer that was recorded before the process ended is asked for again, and the call runs once", async () => {
  const folder = temporaryFolder("page");
  const before = startServer(folder, [payment]);
  const page = openPage(before);
  await page.sendMessage({ text: "pay" });
  await before.sessions.close();
  const answers = { [toolPart(page.lastMessage, "pay")?.toolCallId ?? ""]: true };
  appendFileSync(before.journalOf("chat"), `${JSON.stringify({ type: "answers", answers })}\n`);
  const after = startServer(folder, ["Paid."]);
  const reloaded = await reloadPage(after);
  await reloaded.addToolApprovalResponse({ id: approvalOf(reloaded).id, approved: true });
  await vi.waitUntil(() => textOf(reloaded.lastMessage).endsWith("Paid."));
  expect(after.ran).toEqual([{ amount: 5 }]);
});

test("the same file is the same session, whether it is named by its path, from the working folder, or through a link", async () => {
  const folder = temporaryFolder("page");
  const real = join(folder, "real");
  const link = join(folder, "link");
  symlinkSync(folder, link);
  // The folder `real` is not there yet when the first of them is opened.
  const names = [
    `${link}/real/x.jsonl`,
    `${folder}/./real/../real/x.jsonl`,
    relative(process.cwd(), `${real}/x.jsonl`),
  ];
  const opened: string[] = [];
  const sessions = new PageSessions({
    open: (_request, id) => {
      const journal = names[Number(id)] ?? "";
      const agent = (): Promise<Agent> => {
        opened.push(id);
        mkdirSync(real, { recursive: true });
        return openAgent(new ScriptedProvider([]), journal);
      };
      return { journal, agent };
    },
  });
  const first = await opener.open(sessions, new Request("http://page.test"), "0");
  writeFileSync(join(real, "x.jsonl"), "");
  for (const id of ["1", "2"])
    expect(await opener.open(sessions, new Request("http://page.test"), id), names[Number(id)]).toBe(first);
  expect(opened).toEqual(["0"]);
  await sessions.close();
});

test("a request that comes while a session is left never uses the one that was left", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { sessions } = serve([], { lingerMs: 10 });
  const open = () => opener.open(sessions, new Request("http://page.test"), "chat") as Promise<AgentLiveSession>;
  for (let delay = 0; delay < 10; delay += 1) {
    (await open()).use(-1);
    vi.advanceTimersByTime(10);
    for (let count = 0; count < delay; count += 1) await undefined;
    const session = await open();
    expect(session.isLeft, `${delay} ticks`).toBe(false);
    session.use(-1);
  }
});

test("a connection is not silent for long while a turn is, and the page skips what fills it", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const held = gate();
  const server = serve([held.reply("Done.")]);
  const page = openPage(server);
  const sent = page.sendMessage({ text: "hi" });
  await held.reached;
  const second = (await server.handle(new Request("http://page.test/api/chat/chat/stream"))).text();
  // It has read what there is: from then on 15 seconds are a silence.
  await sleep(50);
  vi.advanceTimersByTime(31_000);
  held.open();
  await sent;
  expect([textOf(page.lastMessage), page.error]).toEqual(["Done.", undefined]);
  expect((await second).match(/^: $/gm)).toHaveLength(2);
  expect(vi.getTimerCount()).toBe(0);
});

test("nothing follows the end of an answer to a reader that is slow to take it", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const reader = (await serve(["Done."]).handle(post(say("hi")))).body?.getReader();
  let text = "";
  while (!text.endsWith("data: [DONE]\n\n")) text += new TextDecoder().decode((await reader?.read())?.value);
  vi.advanceTimersByTime(31_000);
  expect(await reader?.read()).toEqual({ done: true, value: undefined });
});
