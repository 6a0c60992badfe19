// The agent over a server on loopback, its session and its journal.
import assert from "node:assert/strict";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { Agent } from "@toolcrib/agent";
import { OfflineProvider } from "@toolcrib/agent/offline";
import { OpenAICompatibleProvider } from "@toolcrib/agent/openai-compatible";
import { createDefaultToolRegistry } from "@toolcrib/defaults";
import { newFolder, runTests, test } from "../harness.mjs";

/** A server of chat completions that calls `read_file` once and then answers. */
async function modelServer() {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const isAnswered = JSON.parse(body).messages.some(({ role }) => role === "tool");
    const call = {
      index: 0,
      id: "c1",
      type: "function",
      function: { name: "read_file", arguments: '{"path":"a.txt"}' },
    };
    const delta = isAnswered ? { content: "It says hello." } : { tool_calls: [call] };
    const finish_reason = isAnswered ? "stop" : "tool_calls";
    response.setHeader("content-type", "text/event-stream");
    response.end(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\ndata: [DONE]\n\n`);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, baseURL: `http://127.0.0.1:${server.address().port}/v1` };
}

test("a turn with a tool over loopback, its journal, and a resume", async () => {
  const root = newFolder();
  writeFileSync(join(root, "a.txt"), "hello\n");
  const { server, baseURL } = await modelServer();
  try {
    const provider = new OpenAICompatibleProvider({ model: "m", baseURL });
    const tools = () => createDefaultToolRegistry(undefined, { root });
    const journal = join(root, "journal.jsonl");
    const agent = new Agent(provider, { tools: tools(), journal });
    assert.equal(await agent.chat("What does a.txt say?"), "It says hello.");
    await agent.close?.();
    const resumed = await Agent.resume(provider, journal, { tools: tools() });
    assert.deepEqual(resumed.sessionContext, agent.sessionContext);
    assert.ok(readFileSync(journal, "utf8").includes("hello"));
  } finally {
    server.close();
  }
});

test("the stand-in lists, reads and writes", async () => {
  const root = newFolder();
  writeFileSync(join(root, "a.txt"), "hello\n");
  const agent = new Agent(new OfflineProvider(), { tools: createDefaultToolRegistry(undefined, { root }) });
  assert.match(await agent.chat("list ."), /a\.txt/);
  assert.match(await agent.chat("read a.txt"), /hello/);
});

test("a session is saved and loaded", async () => {
  const file = join(newFolder(), "deep", "session.json");
  const agent = new Agent(new OfflineProvider(), { tools: createDefaultToolRegistry(), sessionContextFilePath: file });
  await agent.chat("help");
  const saver = new Agent(new OfflineProvider(), { sessionContextFilePath: file });
  await saver.chat("help");
  assert.match(await saver.saveContext("kept"), /session\.json/);
  const resumed = await Agent.resume(new OfflineProvider(), file);
  assert.equal(resumed.sessionContext.length, saver.sessionContext.length);
});

test("a journal whose last line was torn goes on, and lists as a session", async () => {
  const root = newFolder();
  writeFileSync(join(root, "a.txt"), "hello\n");
  const journal = join(root, "journal.jsonl");
  const tools = () => createDefaultToolRegistry(undefined, { root });
  const agent = new Agent(new OfflineProvider(), { tools: tools(), journal });
  await agent.chat("read a.txt");
  await agent.close?.();
  appendFileSync(journal, '{"type":"message","mess');
  const resumed = await Agent.resume(new OfflineProvider(), journal, { tools: tools() });
  assert.deepEqual(resumed.sessionContext, agent.sessionContext);
  assert.match(await resumed.chat("list ."), /a\.txt/);
  await resumed.close?.();
  for (const line of readFileSync(journal, "utf8").trimEnd().split("\n")) JSON.parse(line);
});

await runTests();
