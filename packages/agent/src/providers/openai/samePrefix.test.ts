import { join } from "node:path";
import { createToolSearch, defineTool, type ExecutableTool, ToolRegistry } from "@toolcrib/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { answerWith, sharedWireServer, temporaryFolder, type WireReply } from "../../../../../testing/src/index.ts";
import { Agent } from "../../agent.ts";
import { OpenAIProvider } from "./openai.ts";

const server = await sharedWireServer();
const apiKey = "sk-prefix-0123456789";

function tool(name: string, deferred = false): ExecutableTool {
  const parameters = { type: "object", properties: {}, additionalProperties: false };
  return defineTool({ name, description: `Does ${name}.`, parameters, execute: () => name, deferred });
}

/** What happens before a turn. */
const change = fc.oneof(
  fc.constantFrom("one", "two", "mail").map((name) => ({ toggled: name })),
  fc.constantFrom("Be brief.", "Be long.", "").map((systemPrompt) => ({ systemPrompt })),
  fc.constantFrom("late", "later").map((name) => ({ added: name })),
  fc.constantFrom("late", "later").map((name) => ({ removed: name })),
  fc.constantFrom("issue", "page").map((name) => ({ deferred: name })),
  fc.constant({ resumed: true }),
);
type Change = Partial<Record<"toggled" | "systemPrompt" | "added" | "removed" | "deferred", string>> & {
  readonly resumed?: boolean;
};

const turn = fc.record({
  changes: fc.array(change, { maxLength: 3 }) as fc.Arbitrary<Change[]>,
  calls: fc.array(fc.constantFrom("one", "search_tools", "mail"), { maxLength: 1 }),
});

const connect = (): OpenAIProvider => new OpenAIProvider({ apiKey, baseURL: `${server.url}/v1`, fullApi: true });

function toggle(tools: ToolRegistry, name: string): void {
  if (tools.listTools().some((listing) => listing.name === name && listing.enabled)) tools.disable(name);
  else tools.enable(name);
}

const repliesOf = (calls: readonly string[]): WireReply[] => [
  ...calls.map((name) => ({ calls: [{ name, args: name === "search_tools" ? '{"query":"mail issue page"}' : "{}" }] })),
  { text: "Done." },
];

/** The parts of a request in the order in which services cache them, those that are lists without their end. */
function parts(body: Record<string, unknown>): string[] {
  const { instructions, tools, input } = body;
  return [instructions, tools, input].map((part) => JSON.stringify(part ?? "").replace(/\]$/, ""));
}

test("over Responses, 20 turns of changes and resumes only add to what was sent, and lose no reasoning", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 20, maxLength: 20 }), async (turns) => {
      server.reset();
      const tools = new ToolRegistry([tool("one"), tool("two"), tool("mail", true)]);
      tools.register(createToolSearch(tools));
      const journal = join(temporaryFolder("prefix"), "session.jsonl");
      let agent = new Agent(connect(), { tools, journal, systemPrompt: "Be brief.", attempts: 1 });
      server.script(answerWith({ text: "Begun." }));
      await agent.chat("Begin.");
      for (const { changes, calls } of turns) {
        for (const { toggled, systemPrompt, added, removed, deferred, resumed } of changes) {
          if (toggled) toggle(tools, toggled);
          if (systemPrompt !== undefined) agent.setSystemPrompt(systemPrompt);
          if (added && !tools.get(added)) tools.register(tool(added));
          if (removed && tools.get(removed)) tools.unregister(removed);
          if (deferred && !tools.get(deferred)) tools.register(tool(deferred, true));
          if (resumed) agent = await Agent.resume(connect(), journal, { tools, attempts: 1 });
        }
        server.script(...repliesOf(calls).map(answerWith));
        await agent.chat("Go.");
      }
      const sent = server.requests.map(({ body }) => parts(body));
      for (const [index, now] of sent.entries())
        for (const [place, before] of (sent[index - 1] ?? []).entries())
          expect(now[place]?.startsWith(before), `request ${index + 1}`).toBe(true);
      expect(server.takeProblems()).toEqual([]);
    }),
    { numRuns: 3 },
  );
});
