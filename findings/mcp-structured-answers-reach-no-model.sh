#!/usr/bin/env bash
# 2026-11-30, @ai-sdk/mcp@1.0.102, @openai/agents@0.20.0, @langchain/mcp-adapters@1.1.4
# A tool of an MCP server that answers with `structuredContent` and an empty `content` (a text beside it is only recommended) has an answer for
# programs alone: all three hand the model an empty list (OpenAI's unless `useStructuredContent` is set), though the AI SDK's result of `execute` and its schema have the value.
# Hurt: users of servers that follow their output schema to the letter: the model is told nothing, calls again, or makes the answer up.
# Seen: AI SDK [], OpenAI Agents [], LangChain [], for {"files":3}.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm pkg set type=module >/dev/null
npm install --no-audit --no-fund --ignore-scripts --loglevel=error \
  @ai-sdk/mcp@1.0.102 ai@7.0.173 @openai/agents@0.20.0 @langchain/mcp-adapters@1.1.4 zod@4.6.7 >/dev/null
cat >main.mjs <<'JS'
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { createMCPClient } from "@ai-sdk/mcp";
import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { MCPServerStreamableHttp } from "@openai/agents";
const server = createServer(async (request, response) => {
  if (request.method !== "POST") return response.writeHead(405).end();
  const { id, method, params } = JSON.parse(await text(request));
  if (id === undefined) return response.writeHead(202).end();
  const answers = {
    initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
    "tools/list": { tools: [{ name: "count", inputSchema: { type: "object" }, outputSchema: { type: "object" } }] },
    "tools/call": { content: [], structuredContent: { files: 3 } },
  };
  const answer = answers[method] ? { result: answers[method] } : { error: { code: -32601, message: "unknown method" } };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
}).listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const url = `http://127.0.0.1:${server.address().port}/mcp`;
const client = await createMCPClient({ transport: { type: "http", url } });
const { count } = await client.tools();
const output = await count.execute({}, { toolCallId: "c", messages: [] });
const agents = new MCPServerStreamableHttp({ url });
await agents.connect();
const [tool] = await new MultiServerMCPClient({ mcpServers: { s: { url, transport: "http" } } }).getTools();
const model = await count.toModelOutput({ output, toolCallId: "c", input: {} });
const lists = { "AI SDK": model.value, "OpenAI Agents": await agents.callTool("count", {}), LangChain: await tool.invoke({}) };
console.log(JSON.stringify(output.structuredContent));
for (const [name, list] of Object.entries(lists)) console.log(name, JSON.stringify(list));
process.exit();
JS
output=$(node main.mjs)
echo "$output"
[ "$output" = "$(printf '%s\n' '{"files":3}' 'AI SDK []' 'OpenAI Agents []' 'LangChain []')" ]
