import { join } from "node:path";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { expect, test } from "vitest";
import { base, openPage, post, say, toolPart } from "../testing/server.ts";
import { createAgUiHandler } from "./agUi.ts";
import { createUIHandler } from "./aiSdk.ts";
import { openAgent, PageSessions } from "./index.ts";

/** A call about which two guards ask, one after the other. */
async function startWithTwoGuards() {
  const ran: unknown[] = [];
  const execute = (args: unknown): string => `paid ${ran.push(args)}`;
  const tool = defineTool({ name: "pay", description: "Pay", parameters: { type: "object" }, execute });
  const tools = new ToolRegistry([tool])
    .guard(() => ({ ask: "Is it in the budget?" }))
    .guard(() => ({ ask: "Is the payee known?" }));
  const journal = join(temporaryFolder("page"), "chat.jsonl");
  const provider = new ScriptedProvider([{ calls: [{ name: "pay" }] }, "Paid."]);
  const sessions = new PageSessions({
    open: () => ({ journal, agent: () => openAgent(provider, journal, { tools }) }),
  });
  const handle = createUIHandler(sessions);
  await (await handle(post(say("pay")))).text();
  return { ran, handle, agUi: createAgUiHandler(sessions) };
}

async function statusOf(reply: Promise<Response>): Promise<number> {
  const response = await reply;
  await response.text();
  return response.status;
}

async function messageOf({ handle }: { handle: (request: Request) => Promise<Response> }) {
  const response = await handle(new Request(`${base}/chat`));
  return openPage({ handle }, { messages: JSON.parse(await response.text()) });
}

test("an answer over AG-UI that is sent twice is none to the next question about the call", async () => {
  const { ran, agUi } = await startWithTwoGuards();
  const ids = async (): Promise<string[]> => {
    const history = (await (await agUi(new Request(`${base}/chat`))).json()) as { interrupts: { id: string }[] };
    return history.interrupts.map(({ id }) => id);
  };
  const resume = (interruptId?: string): Promise<number> => {
    const message = { id: "1", role: "user", content: "pay" };
    const answers = [{ interruptId, status: "resolved", payload: true }];
    return statusOf(agUi(post({ threadId: "chat", runId: "r", messages: [message], resume: answers })));
  };
  const [first] = await ids();
  expect([await resume(first), await resume(first), ran]).toEqual([200, 409, []]);
  const [second] = await ids();
  expect([second === first, await resume(second), ran]).toEqual([false, 200, [{}]]);
});

test.each(["the question", "the call, in a message that shows the question"])(
  "an answer in the body, by the id of %s, is none to the next question about the call",
  async (by) => {
    const started = await startWithTwoGuards();
    const { ran, handle } = started;
    const answer = async (page: ReturnType<typeof openPage>): Promise<number> => {
      const part = toolPart(page.lastMessage, "pay");
      const isOfQuestion = by === "the question";
      const id = (isOfQuestion ? part?.approval?.id : part?.toolCallId) ?? "";
      const messages = isOfQuestion ? [{ role: "assistant", parts: [] }] : page.messages;
      return await statusOf(handle(post({ id: "chat", messages, answers: { [id]: true } })));
    };
    const first = await messageOf(started);
    expect([await answer(first), await answer(first), ran]).toEqual([200, 409, []]);
    expect([await answer(await messageOf(started)), ran]).toEqual([200, [{}]]);
  },
);

test("an answer by the id of a call is refused in a message that does not show the question", async () => {
  const started = await startWithTwoGuards();
  const id = toolPart((await messageOf(started)).lastMessage, "pay")?.toolCallId ?? "";
  const messages = [{ role: "assistant", parts: [] }];
  expect(await statusOf(started.handle(post({ id: "chat", messages, answers: { [id]: true } })))).toBe(409);
  expect(started.ran).toEqual([]);
});
