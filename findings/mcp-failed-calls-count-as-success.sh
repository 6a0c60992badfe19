#!/usr/bin/env bash
# 2026-11-30, @ai-sdk/mcp@1.0.102, @openai/agents@0.20.0 (and @langchain/mcp-adapters@1.1.4, which does throw)
# A call that an MCP server answers with `isError: true` is a success to two of the three: the AI SDK's `execute` returns it, and what it gives
# the model is plain content, not an error output; OpenAI's agents keep the content and drop the flag. LangChain raises an error.
# Hurt: whoever counts failed calls, shows them in red, retries or stops on them: by `tool-error` parts and error outputs there are none.
# Seen: AI SDK content, OpenAI Agents [{"type":"text","text":"disk full"}], LangChain throws.
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
    "tools/list": { tools: [{ name: "count", inputSchema: { type: "object" } }] },
    "tools/call": { content: [{ type: "text", text: "disk full" }], isError: true },
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
console.log("AI SDK", model.type);
console.log("OpenAI Agents", JSON.stringify(await agents.callTool("count", {})));
const langchain = await tool.invoke({}).then(JSON.stringify, () => "throws");
console.log("LangChain", langchain);
process.exit();
JS
output=$(node main.mjs)
echo "$output"
[ "$output" = "$(printf '%s\n' 'AI SDK content' 'OpenAI Agents [{"type":"text","text":"disk full"}]' 'LangChain throws')" ]
