import type { ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { createProgramTools } from "@toolcrib/tools-program";
import type { UIMessage } from "ai";
import { expect, test, vi } from "vitest";
import { openPage, payTools, post, reloadPage, startServer, textOf } from "../testing/server.ts";

/** Has a program that looks and pays, and asks about each payment. */
function programTools(ran: unknown[]): ToolRegistry {
  const registry = payTools(ran);
  registry.register(...createProgramTools(registry, { tools: ["pay", "look"] }));
  return registry;
}

const code = `text(await tools.look());
  return (await Promise.all([1, 2].map((amount) => tools.pay({ amount })))).join()`;
const program = { calls: [{ id: "c", name: "run_program", args: { code } }] };

/** Returns `[name, state, within]` of the calls of a message, and the states of its programs. */
function callsOf(message: UIMessage | undefined): unknown[] {
  return (message?.parts ?? []).flatMap((part) => {
    if (part.type === "data-program") return [["program", part.data]];
    return part.type === "dynamic-tool" ? [[part.toolName, part.state, part.toolMetadata?.within]] : [];
  });
}

test("calls within a program are parts of their own, and their questions are answered together", async () => {
  const server = startServer(temporaryFolder("page"), [program, "Done."], { tools: programTools });
  const page = openPage(server);
  await page.sendMessage({ text: "go" });
  const shown = { toolName: "run_program", input: { code } };
  expect(callsOf(page.lastMessage)).toEqual([
    ["program", { ...shown, state: "running" }],
    ["look", "output-available", "c"],
    ["pay", "approval-requested", "c"],
    ["pay", "approval-requested", "c"],
  ]);
  // A page that is loaded now has the questions, and not what was told meanwhile.
  const reloaded = await reloadPage(server);
  expect(callsOf(reloaded.lastMessage)).toEqual([
    ["program", { ...shown, state: "running" }],
    ["pay", "approval-requested", "c"],
    ["pay", "approval-requested", "c"],
  ]);
  for (const part of page.lastMessage?.parts ?? [])
    if (part.type === "dynamic-tool" && part.state === "approval-requested")
      await page.addToolApprovalResponse({ id: part.approval.id, approved: true });
  await vi.waitUntil(() => textOf(page.lastMessage) === "Done.");
  expect(server.ran).toEqual([{ amount: 1 }, { amount: 2 }]);
  expect(callsOf(page.lastMessage)).toEqual([
    ["program", { ...shown, state: "done" }],
    ["look", "output-available", "c"],
    ["pay", "output-available", "c"],
    ["pay", "output-available", "c"],
    ["run_program", "output-available", undefined],
  ]);
});

test("an answer to one of two questions is kept until the other has one", async () => {
  const server = startServer(temporaryFolder("page"), [program, "Done."], { tools: programTools });
  const page = openPage(server);
  await page.sendMessage({ text: "go" });
  const statesOf = ({ lastMessage }: { lastMessage: UIMessage | undefined }): unknown[] =>
    (callsOf(lastMessage) as string[][]).filter(([name]) => name === "pay").map(([, state]) => state);
  const answer = (callId: string): Promise<Response> =>
    server.handle(post({ id: "chat", messages: page.messages.slice(-1), answers: { [callId]: true } }));
  await (await answer("c:2")).text();
  const reloaded = await reloadPage(server);
  expect([statesOf(reloaded), server.ran]).toEqual([["approval-responded", "approval-requested"], []]);
  await (await answer("c:3")).text();
  expect([textOf((await reloadPage(server)).lastMessage), server.ran]).toEqual([
    "Done.",
    [{ amount: 1 }, { amount: 2 }],
  ]);
});

test("a program that is asked about itself is a question first", async () => {
  const tools = (ran: unknown[]): ToolRegistry =>
    programTools(ran).guard(({ name }) => name !== "run_program" || { ask: "May it run a program?" });
  const server = startServer(temporaryFolder("page"), [program, "Done."], { tools });
  const page = openPage(server);
  await page.sendMessage({ text: "go" });
  for (const count of [1, 2]) {
    const asked = (page.lastMessage?.parts ?? []).filter((part) => part.type === "dynamic-tool");
    const open = asked.filter((part) => part.state === "approval-requested");
    expect(open).toHaveLength(count);
    for (const { approval } of open) await page.addToolApprovalResponse({ id: approval?.id ?? "", approved: true });
    await vi.waitUntil(
      () =>
        page.status === "ready" &&
        !callsOf(page.lastMessage).some(
          (call) => (call as string[])[1] === "approval-responded" && (call as string[])[0] === "pay",
        ),
    );
  }
  await vi.waitUntil(() => textOf(page.lastMessage) === "Done.");
  expect(server.ran).toEqual([{ amount: 1 }, { amount: 2 }]);
});
