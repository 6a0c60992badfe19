// One piece of work whose size is given: the first argument says which, the second how large, the third where.
import { Agent } from "@toolcrib/agent";
import { createToolSearch, defineTool, ToolRegistry } from "@toolcrib/core";
import { createSearchTools } from "@toolcrib/tools-search";
import { answer } from "../pairs.mjs";

const [what, size, path] = process.argv.slice(2);
const count = Number(size);
const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const model = {
  name: "scripted",
  model: "m",
  async *send({ messages }) {
    const content = [{ type: "text", text: String(messages.length) }];
    yield { type: "reply", message: { role: "assistant", content }, stop: "stop", usage };
  },
};

const cases = {
  async tools() {
    const registry = new ToolRegistry();
    for (let index = 0; index < count; index += 1) registry.register(deferredTool(index));
    registry.register(createToolSearch(registry));
    const found = new Set();
    for (let kind = 0; kind < count / 100; kind += 1) {
      const { data } = await registry.invoke("search_tools", { query: `kind${kind}`, limit: 10 });
      for (const name of data.tools) found.add(name);
    }
    return found.size;
  },
  async journal() {
    const agent = await Agent.resume(model, path, { journal: path });
    return Number(await agent.chat("And now?"));
  },
  async files() {
    const registry = new ToolRegistry(createSearchTools({ cwd: path, maxReplyBytes: Infinity }));
    const listed = await registry.execute("search_files", { pattern: "**/*.txt", max_results: count });
    return listed.split("\n").length;
  },
};

function deferredTool(index) {
  const name = `widget${index}_get`;
  const description = `Reads widget ${index} of kind${Math.floor(index / 100)} by its id.`;
  const parameters = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };
  return defineTool({ name, description, parameters, deferred: true, execute: () => "" });
}

answer(cases[what]);
