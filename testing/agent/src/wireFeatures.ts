import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent, type AgentOptions, chatObject, fallbackProvider } from "@toolcrib/agent";
import { AnthropicProvider } from "@toolcrib/agent/anthropic";
import { assertConversation } from "@toolcrib/agent/testing";
import { defineTool, type ExecutableTool, ToolRegistry, toolOutput } from "@toolcrib/core";
import { mendSchema } from "@toolcrib/core/internal";
import { drawPicture } from "@toolcrib/testing/pictures";
import { routeServices } from "@toolcrib/testing/routeServices";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { inForce } from "@toolcrib/testing/wire/inForce";
import { answerWith, jsonOf, replyEvents, sse, streamOf, type WireReply } from "@toolcrib/testing/wireReplies";
import type { WireScript, WireServer } from "@toolcrib/testing/wireServer";
import { beforeEach, describe, expect, test } from "vitest";
import { type WireService, wireServices } from "./wireServices.ts";
import { call, pictureOf, say, tool } from "./wireTalk.ts";

const names = (tools: ToolRegistry): string[] =>
  tools
    .getEnabledSchemas()
    .map((schema) => schema.function.name)
    .sort();

const schema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
} as const;
/** Two large pictures. */
const drawn = Promise.all([drawPicture(3000, 40), drawPicture(40, 2500)]).then((all) =>
  all.map((one) => one.toString("base64")),
);
const oslo = '{"city":"Oslo"}';

/** Makes tools as those of an MCP server may be; the first says `description`. */
export type OddTools = (description: string) => Promise<readonly ExecutableTool[]>;

const tuple = { type: "array", items: [{ type: "string" }, { type: "number" }], additionalItems: false } as const;

const oddTools: OddTools = async (description) =>
  [
    { name: "hello", description, parameters: { type: "object" } },
    { name: "draft_7_", parameters: { type: "object", properties: { pair: tuple }, required: ["pair"] } },
    { name: "bare", parameters: {} },
  ].map(({ name, ...more }) =>
    defineTool({
      description: "Is odd.",
      ...more,
      name: `mcp__odd__${name}`,
      parameters: mendSchema(more.parameters),
      execute: () => "done",
    }),
  );

/** Declares the tests of what an agent may do in a conversation, at each of the services, which nothing of it may annoy. */
export function testFeatures(
  server: WireServer,
  services: readonly WireService[],
  makeOddTools: OddTools = oddTools,
): void {
  routeServices(server);
  const script = (...replies: WireReply[]): void => server.script(...replies.map(answerWith));

  describe.each(services)("with $title", (service) => {
    const { title, account, isAppended, isChecked, connect } = service;
    const isMessages = connect(server) instanceof AnthropicProvider;
    let folder = "";
    let tools = new ToolRegistry();
    beforeEach(() => {
      Object.assign(server.account, account);
      folder = temporaryFolder("features");
      tools = new ToolRegistry([tool("look"), tool("count"), tool("write")]);
    });

    const agentOf = (options: AgentOptions = {}): Agent =>
      new Agent(connect(server), { tools, systemPrompt: "Be brief.", attempts: 1, ...options });
    const journal = (): string => join(folder, "session.jsonl");
    const lastRequest = () => {
      const { format, body } = server.requests.at(-1) ?? { format: "chat" as const, body: {} };
      return inForce(format, body);
    };

    // Shrinking them takes long, and they are the same blocks at each service of a wire.
    const isFirst = ["Anthropic", "OpenAI", "a server of chat completions"].includes(title);
    test.runIf(isFirst)(
      "a conversation goes on with 25 large pictures, of results and of the user, before and after a resume",
      async () => {
        const picture = { type: "image", mimeType: "image/png" } as const;
        const [data = "", other = ""] = await drawn;
        const content = new Array(12).fill({ ...picture, data });
        tools = new ToolRegistry([tool("look", { execute: () => toolOutput("Twelve.", { content }) })]);
        script(call("look"), say("Seen."), call("look"), say("Seen."), say("Still here."));
        const agent = agentOf({ journal: journal() });
        await agent.chat("Look.");
        await agent.chat([
          { type: "text", text: "Like this?" },
          { ...picture, data: other },
        ]);
        const resumed = await Agent.resume(connect(server), journal(), {
          tools,
          systemPrompt: "Be brief.",
          attempts: 1,
        });
        expect(await resumed.chat("And?")).toBe("Still here.");
        assertConversation(resumed.sessionContext);
        expect(JSON.stringify(resumed.sessionContext).match(/"image\/png"/g)).toHaveLength(25);
      },
    );

    /** A turn with thinking before and after a call. */
    async function work(agent: Agent, text = "Go."): Promise<void> {
      script(call("look"), say("Done."));
      expect(await agent.chat(text)).toContain("Done.");
      assertConversation(agent.sessionContext);
    }

    /** Nothing was refused and nothing lost. Where a change cannot be appended, only what thinking stood before it may be. */
    function expectKept(isChanged: boolean): void {
      const problems = server.takeProblems();
      if (!isChanged || isAppended || !isChecked) expect(problems).toEqual([]);
      for (const problem of problems) expect(problem).toMatch(/different conversation|thinking is lost|is left out/);
      // The service says it once; then the client knows.
      expect(problems.filter((problem) => problem.includes("different conversation")).length).toBeLessThan(2);
    }

    test("what the model says between calls is shown, where the service tells it on request", async () => {
      server.script(answerWith({ ...call("look"), thinking: "First I look." }), answerWith(say("Done.")));
      const events = [];
      for await (const event of agentOf().streamChat("Go.")) events.push(event);
      const thoughts = events.flatMap((event) => (event.type === "reasoning-delta" ? [event.text] : []));
      const isShown = isAppended || !/gateway|Haiku 4.5|completions/.test(title);
      expect(thoughts.join("").includes("First I look.")).toBe(isShown);
      expectKept(false);
    });

    test("tools added, removed, and added again with another schema", async () => {
      const agent = agentOf();
      await work(agent);
      agent.addTool(tool("late"));
      script(call("late"), say("Done."));
      await agent.chat("Go.");
      expect(lastRequest().tools).toEqual(names(tools));
      agent.removeTool("late");
      await work(agent);
      expect(lastRequest().tools).toEqual(names(tools));
      agent.addTool(tool("late", { description: "Does more." }));
      script(call("late"), say("Done."));
      await agent.chat("Go.");
      expect(lastRequest().tools).toEqual(names(tools));
      expect(server.requests.at(-1)?.text).toContain("Does more.");
      await work(agent);
      expectKept(true);
    });

    test("compaction now, and by the size of the conversation", async () => {
      const agent = agentOf({ compaction: { contextWindow: 1_000_000 } });
      for (let turn = 0; turn < 3; turn += 1) await work(agent, "Go. ".repeat(2000));
      script(say("They went thrice."));
      expect(await agent.compact()).toBeDefined();
      await work(agent);
      await work(agent);
      const small = agentOf({ compaction: { contextWindow: 40, startAt: 0.5 } });
      server.answerAll((request) => {
        const history = (request.body.messages ?? request.body.input) as readonly unknown[];
        const isSummary = JSON.stringify(history.at(-1)).includes("summary alone");
        return answerWith(isSummary ? say("They went.") : say("Done."))(request);
      });
      for (let turn = 0; turn < 6; turn += 1)
        expect(await small.chat(`Turn ${turn}. ${"Go. ".repeat(500)}`)).toContain("Done.");
      server.answerAll(() => ({ status: 500, chunks: [] }));
      expectKept(false);
    });

    test("compaction right after other words and tools", async () => {
      const agent = agentOf();
      for (let turn = 0; turn < 3; turn += 1) await work(agent, "Go. ".repeat(2000));
      agent.setSystemPrompt("Be brief.");
      agent.disableTool("write");
      script(say("They went thrice."));
      expect(await agent.compact()).toBeDefined();
      await work(agent);
      expectKept(true);
    });

    test("another model, and the first one again", async () => {
      // The account is also that of the others, at their own addresses.
      server.account.takesBetas = true;
      await work(agentOf({ journal: journal() }));
      for (const index of [0, 3, 5]) {
        const service = wireServices[index];
        if (!service) throw new Error("no such service");
        await work(await Agent.resume(service.connect(server), journal(), { tools, attempts: 1 }));
        await work(await Agent.resume(connect(server), journal(), { tools, attempts: 1 }));
      }
      expectKept(false);
    });

    test("a fallback in the middle of a turn", async () => {
      const [other] = wireServices.slice(-1);
      if (!other) throw new Error("no such service");
      const provider = fallbackProvider(connect(server), other.connect(server));
      const agent = new Agent(provider, {
        tools,
        systemPrompt: "Be brief.",
        attempts: 2,
        journal: journal(),
        baseDelayMs: 1,
      });
      script(call("look"));
      server.script(jsonOf({ error: { message: "no" } }, { status: 401 }));
      script(call("count"), say("Done."));
      expect(await agent.chat("Go.")).toContain("Done.");
      await work(await Agent.resume(connect(server), journal(), { tools, attempts: 1 }));
      expectKept(false);
    });

    test("an answer by a schema between two turns", async () => {
      const agent = agentOf();
      await work(agent);
      const byFormat = /"(output_config|text|response_format)":\{[^}]*"(format|json_schema)"/;
      const answer: WireScript = (request) =>
        answerWith(byFormat.test(request.text) ? say(oslo) : { calls: [{ name: "final_answer", args: oslo }] })(
          request,
        );
      server.script(answerWith(call("look")), answer);
      expect(await chatObject(agent, "Where?", schema)).toEqual({ city: "Oslo" });
      await work(agent);
      expectKept(true);
    });

    test("an answer by a schema after one in prose", async () => {
      const agent = agentOf();
      await work(agent);
      server.script(answerWith(say("It is Oslo.")));
      server.answerAll((request) => {
        const offers = inForce(request.format, request.body).tools.includes("final_answer");
        return answerWith(offers ? { calls: [{ name: "final_answer", args: oslo }] } : say(oslo))(request);
      });
      expect(await chatObject(agent, "Where?", schema)).toEqual({ city: "Oslo" });
      server.answerAll(() => ({ status: 500, chunks: [] }));
      await work(agent);
      expectKept(true);
    });

    test("a turn that is left while its reply streams, and one while its tool runs", async () => {
      const agent = agentOf({ journal: journal() });
      await work(agent);
      server.script((request) =>
        streamOf(sse(replyEvents(request.format, say("One. Two. Three."), request)).slice(0, -3), { end: "hang" }),
      );
      for await (const event of agent.streamChat("Go.")) if (event.type === "text-delta") break;
      await work(agent);
      script(call("look", "count"));
      for await (const event of agent.streamChat("Go.")) if (event.type === "tool-result") break;
      await work(agent);
      await work(await Agent.resume(connect(server), journal(), { tools, attempts: 1 }));
      expectKept(false);
    });

    test("a reply that is cut off by its limit, and one that fails", async () => {
      const agent = agentOf();
      await work(agent);
      const stop = { messages: "max_tokens", responses: "max_output_tokens", chat: "length" };
      server.script((request) => answerWith({ ...call("look"), stop: stop[request.format] })(request));
      await expect(agent.chat("Go.")).rejects.toMatchObject({ reason: "token-limit" });
      server.script(jsonOf({ error: { message: "Overloaded" } }, { status: 529 }));
      await expect(agent.chat("Go.")).rejects.toMatchObject({ code: "server" });
      await work(agent);
      expectKept(false);
    });

    test("a process that ends anywhere: its journal goes on from every line, torn or not", async () => {
      const agent = agentOf({ journal: journal() });
      await work(agent);
      agent.disableTool("count");
      agent.setSystemPrompt("Be polite.");
      await work(agent);
      server.takeProblems();
      const lines = readFileSync(journal(), "utf8").split("\n");
      // Each service from other lines.
      for (let count = 2 + (services.indexOf(service) % 3); count < lines.length; count += 3) {
        const file = join(folder, `crash${count}.jsonl`);
        const torn = (lines[count] ?? "").slice(0, 20);
        writeFileSync(file, `${lines.slice(0, count).join("\n")}\n${torn}`);
        await work(await Agent.resume(connect(server), file, { tools, attempts: 1 }));
        const problems = server.takeProblems();
        if (isAppended || !isChecked) expect(problems, `after line ${count}`).toEqual([]);
      }
    });

    test("the odd tools of a server, which are others when it is started again", async () => {
      const mount = async (description: string): Promise<ToolRegistry> =>
        new ToolRegistry([tool("look"), ...(await makeOddTools(description))]);
      tools = await mount("Says hello.");
      const agent = agentOf({ journal: journal() });
      script({ calls: [{ name: "mcp__odd__hello", args: "{}" }] }, say("Done."));
      expect(await agent.chat("Go.")).toContain("Done.");
      expectKept(false);
      const changed = await Agent.resume(connect(server), journal(), { tools: await mount("Says more."), attempts: 1 });
      await work(changed);
      expect(server.requests.at(-1)?.text).toContain("Says more.");
      expectKept(true);
    });

    test.runIf(isMessages)("pictures, of which the service takes only small ones once there are many", async () => {
      const picture = pictureOf(3000);
      tools.register(tool("draw", { execute: () => toolOutput("drawn", { content: [picture] }) }));
      const agent = agentOf();
      for (let turn = 0; turn < 5; turn += 1) {
        script(call("draw", "draw", "draw", "draw", "draw"), say("Done."));
        expect(await agent.chat("Draw.")).toContain("Done.");
      }
      server.answerAll((request) => answerWith(say("Done."))(request));
      // Where the service has that limit, the message is refused in words before it is sent.
      await agent
        .chat([{ type: "text", text: "And this?" }, picture])
        .catch((error: unknown) => expect(String(error)).toMatch(/picture of the message cannot be sent/));
      server.answerAll(() => ({ status: 500, chunks: [] }));
      await work(agent);
      expectKept(false);
    });

    test("a conversation that is forgotten and begun anew", async () => {
      const agent = agentOf();
      await work(agent);
      agent.clearContext();
      agent.disableTool("count");
      agent.setSystemPrompt("Be polite.");
      await work(agent);
      expect(lastRequest()).toEqual({ tools: ["look", "write"], instructions: ["Be polite."] });
      expectKept(false);
    });
  });
}
