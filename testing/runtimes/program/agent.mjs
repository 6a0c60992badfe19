// The agent: the suite for providers, a turn with tools, a session that is saved and continued, a service over HTTP.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { join } from "node:path";
import { OfflineProvider } from "@toolcrib/agent/offline";
import { OpenAICompatibleProvider } from "@toolcrib/agent/openai-compatible";
import { ScriptedProvider, testProvider } from "@toolcrib/agent/testing";
import { Agent, createDefaultToolRegistry } from "@toolcrib/defaults";

export async function agent({ test, folder, atEnd }) {
  testProvider(test, { create: ({ stream }) => new OfflineProvider({ stream }) });

  test("runs tools, commands among them, and answers", async () => {
    const tools = createDefaultToolRegistry(undefined, { root: folder, enable: ["run_bash"] });
    const provider = new ScriptedProvider([
      { calls: [{ name: "write_file", args: { path: "a.txt", content: "hi\n" } }] },
      { calls: [{ name: "run_bash", args: { command: "cat a.txt" } }] },
      "done",
    ]);
    assert.equal(await new Agent(provider, { tools }).chat("go"), "done");
    const results = provider.requests.at(-1).messages.filter(({ role }) => role === "tool");
    assert.match(JSON.stringify(results.at(-1)), /hi\\\\n/);
  });

  test("saves a session and goes on with it", async () => {
    const file = join(folder, "session.jsonl");
    const first = new Agent(new ScriptedProvider(["one"]), { journal: file });
    await first.chat("a");
    const provider = new ScriptedProvider(["two"]);
    await (await Agent.resume(provider, file)).chat("b");
    assert.deepEqual(
      provider.requests[0].messages.map(({ content }) => content.map(({ text }) => text).join("")),
      ["a", "one", "b"],
    );
  });

  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const chunk = (delta, finish_reason = null) =>
        response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
      chunk({ role: "assistant", content: "wor" });
      chunk({ content: "ds" });
      chunk({}, "stop");
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(() => {
    server.closeAllConnections?.();
    server.close();
  });

  test("reads the stream of a service over HTTP", async () => {
    const baseURL = `http://127.0.0.1:${server.address().port}/v1`;
    const provider = new OpenAICompatibleProvider({ baseURL, model: "m", apiKey: "k" });
    const deltas = [];
    for await (const event of new Agent(provider).streamChat("hi"))
      if (event.type === "text-delta") deltas.push(event.text);
    assert.equal(deltas.join(""), "words");
  });
}
