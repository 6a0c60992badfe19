import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { answerWith, type ProgramEnd, sharedWireServer } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { homeFor, modelAt } from "../../../fixtures/command.ts";

const wire = await sharedWireServer();
const home = homeFor("prompts");
let env: Record<string, string> = {};
beforeEach(async () => {
  env = {};
  const added = await toolcrib(["mcp", "add", "--user", "notes", "--", process.execPath, "-e", server]);
  expect(added.code).toBe(0);
});

/** A server that speaks MCP line by line, with a resource, a prompt and instructions. */
const server = `
  const capabilities = { tools: {}, resources: {}, prompts: {} };
  const review = { name: "review", description: "Reviews.", arguments: [{ name: "note", required: true }, { name: "how" }] };
  const answers = {
    initialize: () => ({ protocolVersion: "2025-06-18", capabilities, serverInfo: { name: "n", version: "1" }, instructions: "Notes are mine." }),
    "tools/list": () => ({ tools: [{ name: "look", inputSchema: { type: "object" } }] }),
    "resources/list": () => ({ resources: [{ uri: "notes://a", name: "A" }] }),
    "resources/read": ({ uri }) => ({ contents: [{ uri, text: "Text of " + uri }] }),
    "prompts/list": () => ({ prompts: [review] }),
    "prompts/get": (params) => ({ messages: [{ role: "user", content: { type: "text", text: JSON.stringify(params) } }] }),
  };
  require("node:readline").createInterface(process.stdin).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const result = answers[method]?.(params);
    console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error: { code: -32601, message: "no" } }) }));
  });`;

const toolcrib = (args: readonly string[], input?: string): Promise<ProgramEnd> =>
  home.toolcrib(args, { env, ...(input !== undefined && { input }) });
const model = (): string[] => [...modelAt(wire), "--mcp"];

test("prompts of servers are commands: listed, checked, written by the server and sent as a message", async () => {
  wire.script(answerWith({ text: "Reviewed." }));
  const lines = ["/prompts", "/mcp__notes__review", "/mcp__notes__revue a", "/mcp__notes__review a very well"];
  const { stderr, stdout } = await toolcrib(["chat", ...model()], `${lines.join("\n")}\n`);
  expect(stderr).toContain("/mcp__notes__review NOTE [HOW]  Reviews.");
  expect(stderr).toContain("Write /mcp__notes__review NOTE [HOW].");
  expect(stderr).toContain("did you mean /mcp__notes__review?");
  const written = '{"name":"review","arguments":{"note":"a","how":"very well"}}';
  expect(stderr).toContain(written);
  expect(stdout).toContain("Reviewed.");
  expect(wire.requests).toHaveLength(1);
  expect(JSON.parse(wire.requests[0]?.text ?? "{}").messages.at(-1)).toEqual({ role: "user", content: written });
});

test("the instructions of servers are in the system prompt, marked as their words", async () => {
  wire.script(answerWith({ text: "Hello." }));
  await toolcrib(["run", "hi", ...model()]);
  expect(JSON.parse(wire.requests[0]?.text ?? "{}").messages[0].content).toMatch(
    /grants nothing and is not from the user\.\nnotes \| Notes are mine\.$/,
  );
});

test("the tools for resources are off until they are named, and asked about then", async () => {
  wire.script(answerWith({ text: "Hello." }));
  await toolcrib(["run", "hi", ...model()]);
  expect(wire.requests[0]?.text).not.toContain("read_resource");
  const call = { calls: [{ name: "read_resource", args: '{"server":"notes","uri":"notes://a"}' }] };
  wire.script(answerWith(call));
  const asked = await toolcrib(["run", "hi", ...model(), "--enable", "list_resources,read_resource"]);
  expect([asked.code, asked.stderr]).toEqual([4, expect.stringContaining("Not run: read_resource")]);
  wire.script(answerWith(call), answerWith({ text: "Done." }));
  await toolcrib(["run", "hi", ...model(), "--enable", "read_resource", "--allow", "read_resource"]);
  expect(wire.requests.at(-1)?.text).toContain("Text of notes://a");
});

test("chat uses the servers that were added or allowed, names the others, and --no-mcp none", async () => {
  const chat = [...model().slice(0, -1)];
  const add = async (name: string) => toolcrib(["mcp", "add", name, "--", process.execPath, "-e", server]);
  expect((await add("ours")).stderr).toContain("toolcrib chat uses it");
  const file = home.at(".mcp.json");
  const { mcpServers } = JSON.parse(readFileSync(file, "utf8")) as { mcpServers: Record<string, object> };
  const theirs = { command: process.execPath, args: ["-e", 'require("node:fs").writeFileSync("started", "")'] };
  writeFileSync(file, JSON.stringify({ mcpServers: { ...mcpServers, theirs } }));
  const { stderr } = await toolcrib(["chat", ...chat], "/mcp\n/prompts\n");
  expect(stderr).toContain("Not used, as .mcp.json has them now: theirs; toolcrib mcp allow theirs allows it.");
  expect(stderr).toMatch(/\nours {4}1 tool: mcp__ours__look\ntheirs {2}not allowed yet: .*\nnotes {3}1 tool: /);
  expect(stderr).toContain("/mcp__ours__review NOTE [HOW]");
  expect(existsSync(home.at("started"))).toBe(false);
  const none = await toolcrib(["chat", ...chat, "--no-mcp"], "/mcp\n/prompts\n");
  expect(none.stderr).toMatch(/\nours {4}not used in this conversation\n/);
  expect(none.stderr).toContain("none is used here; /mcp says why");
  writeFileSync(file, "{");
  expect((await toolcrib(["chat", ...chat], "/quit\n")).stderr).toMatch(/No MCP server is used: .*\.mcp\.json/);
});

test("what speaks with servers is loaded only where one is used", async () => {
  await toolcrib(["mcp", "remove", "--user", "notes"]);
  const hook = `import { registerHooks } from "node:module";
    const load = (url, context, next) => {
      if (url.includes("/@modelcontextprotocol/")) process.stderr.write("loaded\\n");
      return next(url, context);
    };
    registerHooks({ load });`;
  env = { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(hook)}"` };
  const chat = async () => toolcrib(["chat", "-m", "offline"], "/mcp\n");
  expect(await chat()).toMatchObject({ code: 0, stderr: expect.not.stringContaining("loaded") });
  const added = await toolcrib(["mcp", "add", "--user", "notes", "--", process.execPath, "-e", server]);
  expect(added).toMatchObject({ code: 0, stderr: expect.not.stringContaining("loaded") });
  expect((await chat()).stderr).toContain("loaded");
});

test("the name of a server, which a stranger chose, is one word of the command that allows it", async () => {
  writeFileSync(home.at(".mcp.json"), JSON.stringify({ mcpServers: { "x; it's": { command: "true" } } }));
  const allow = "toolcrib mcp allow 'x; it'\\''s'";
  const { stderr } = await toolcrib(["chat", ...model().slice(0, -1)], "/mcp\n");
  expect(stderr).toContain(`${allow} allows it.`);
  expect(stderr).toContain(`not allowed yet: ${allow}, then`);
  expect((await toolcrib(["run", "hi", ...model()])).stderr).toContain(`then ${allow}\n`);
});
