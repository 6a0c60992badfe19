import { setImmediate as turnOfLoop } from "node:timers/promises";
import { assertConversation, type ScriptedReply } from "@toolcrib/agent/testing";
import { temporaryFolder } from "@toolcrib/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Connected, connect, createScenario, type Scenario } from "../testing/scenario.ts";

const replies: readonly ScriptedReply[] = [
  "Hello.",
  { calls: [{ name: "hold" }] },
  {
    calls: [
      { name: "write_note", args: { path: "a.txt", content: "new\n" } },
      { name: "read_note", args: {} },
    ],
  },
  { reasoning: "Hm.", calls: [{ name: "no_such_tool", args: { path: "\ud83d" } }] },
  { text: "cut", stop: "token-limit" },
  new Error("the service is gone"),
];
const steps = ["prompt", "cancel", "load", "close", "garbage", "compact", "wait"] as const;
const answers = ["once", "always", "reject", "nonsense", undefined] as const;

/** One message of a client, whatever the session is doing; resolves to a promise of its answer. */
function send(step: (typeof steps)[number], sessionId: string, cwd: string, { agent, write }: Connected): unknown {
  const prompt = (text: string) => agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  switch (step) {
    case "prompt":
      return prompt("go on");
    case "compact":
      return prompt("/compact");
    case "cancel":
      return agent.notify("session/cancel", { sessionId });
    case "load":
      return agent.request("session/load", { sessionId, cwd, mcpServers: [] });
    case "close":
      return agent.request("session/close", { sessionId });
    case "garbage":
      return write('{"jsonrpc":"2.0","id":"x","method":"session/prompt","params":{"sessionId":"one","prompt":7}}');
    case "wait":
      return undefined;
  }
}

test("in whatever order messages come, each is answered, conversations stay valid, and nothing is left open", async () => {
  const folder = temporaryFolder("acp");
  const order = fc.array(fc.tuple(fc.constantFrom(...steps), fc.boolean()), { minLength: 1, maxLength: 14 });
  const script = fc.array(fc.constantFrom(...replies), { minLength: 30, maxLength: 30 });
  const choices = fc.array(fc.constantFrom(...answers), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(order, script, choices, async (messages, model, choice) => {
      const opened: Scenario[] = [];
      const open = (): Scenario["session"] => {
        const scenario = createScenario(folder, model);
        opened.push(scenario);
        return scenario.session;
      };
      let asked = 0;
      const client = await connect({ createSession: open, openSession: open }, async () => {
        asked += 1;
        return choice[asked % choice.length];
      });
      const { sessionId } = await client.agent.request("session/new", { cwd: folder, mcpServers: [] });
      const sent: unknown[] = [];
      for (const [step, isPaused] of messages) {
        sent.push(send(step, sessionId, folder, client));
        if (isPaused) for (let turn = 0; turn < 10; turn += 1) await turnOfLoop();
      }
      client.leave();
      await client.serving.closed;
      await Promise.allSettled(sent);
      for (const { closed, session } of opened) {
        await closed;
        expect(() => assertConversation(session.agent.sessionContext)).not.toThrow();
      }
      for (const line of client.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
    }),
    { numRuns: 25 },
  );
});
