import { defineTool, ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { expect, test } from "vitest";
import { openPage, post, type Server, say, startServer, toolPart } from "../testing/server.ts";

const pay = (amount: number) => ({ name: "pay", args: { amount } });

/** Has `pay`, calls of which are asked about together. */
function payTools(ran: unknown[]): ToolRegistry {
  const parameters = { type: "object", properties: { amount: { type: "number" } } } as const;
  const execute = (args: unknown): string => `paid ${ran.push(args)}`;
  const tool = defineTool({ name: "pay", description: "Pay", parameters, readOnly: true, execute });
  return new ToolRegistry([tool]).guard(() => ({ ask: "May it pay?" }));
}

interface Asked {
  readonly server: Server;
  readonly remembered: unknown[];
  answer(...answers: unknown[]): Promise<Response>;
  /** Lets a slow store go on. */
  store(): void;
}

/** A page with a question for each payment, whose policy takes its time. */
async function ask(amounts: readonly number[], isSlow = false): Promise<Asked> {
  const stored = Promise.withResolvers<void>();
  const remembered: unknown[] = [];
  const policy = {
    async remember({ args }: { readonly args: unknown }) {
      if (isSlow) await stored.promise;
      remembered.push(args);
    },
  };
  const replies = [{ calls: amounts.map(pay) }, "Done."];
  const server = startServer(temporaryFolder("page"), replies, { session: { policy }, tools: payTools });
  const page = openPage(server);
  await page.sendMessage({ text: "pay" });
  const { messages } = page;
  const ids = (messages.at(-1)?.parts ?? []).flatMap((part) => (part.type === "dynamic-tool" ? [part.toolCallId] : []));
  const answer = (...answers: unknown[]): Promise<Response> => {
    const given = Object.fromEntries(answers.map((one, index) => [ids[index], one]));
    return server.handle(post({ id: "chat", messages, answers: given }));
  };
  expect(toolPart(page.lastMessage, "pay")?.state).toBe("approval-requested");
  return { server, remembered, answer, store: stored.resolve };
}

async function statusesOf(replies: readonly Promise<Response>[]): Promise<number[]> {
  const all = await Promise.all(replies);
  await Promise.all(all.map((reply) => reply.text()));
  return all.map(({ status }) => status);
}

const always = { always: true };

test.each<[string, boolean, ({ answer, server }: Asked) => Promise<Response>[], number[], unknown[]]>([
  ["a no that came first", false, ({ answer }) => [answer(false), answer(always)], [200, 409], []],
  [
    "a message that came first",
    false,
    ({ answer, server }) => [server.handle(post(say("hi"))), answer(always)],
    [200, 409],
    [],
  ],
  ["a no that came after", false, ({ answer }) => [answer(always), answer(false)], [200, 409], [{ amount: 1 }]],
  [
    "a no while the policy stores it",
    true,
    ({ answer, store }) => [answer(always), answer(false).finally(store)],
    [200, 409],
    [{ amount: 1 }],
  ],
  [
    "four others like it",
    false,
    ({ answer }) => Array.from({ length: 5 }, () => answer(always)),
    [200, 409, 409, 409, 409],
    [{ amount: 1 }],
  ],
])(
  "always beside %s is remembered once if it wins, and not at all if it loses",
  async (_what, isSlow, send, statuses, remembered) => {
    const asked = await ask([1], isSlow);
    expect(await statusesOf(send(asked))).toEqual(statuses);
    expect(asked.remembered).toEqual(remembered);
    expect(asked.server.ran).toEqual(remembered);
  },
);

test.each([
  ["arguments that do not fit", { args: { amount: "much" } }],
  ["more calls than the question offers", { upTo: 5 }],
])("always is not remembered if the same request is refused for %s", async (_what, other) => {
  const { answer, remembered, server } = await ask([1, 2]);
  expect(await statusesOf([answer(always, other)])).toEqual([400]);
  expect([remembered, server.ran]).toEqual([[], []]);
  expect(await statusesOf([answer(always, { args: { amount: 3 } })])).toEqual([200]);
  expect([remembered, server.ran]).toEqual([[{ amount: 1 }], [{ amount: 1 }, { amount: 3 }]]);
});
