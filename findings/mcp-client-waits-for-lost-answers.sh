#!/usr/bin/env bash
# 2026-11-29, @modelcontextprotocol/client@2.4.0
# Over streamable HTTP, a request whose event stream ends without its answer, and without the id of an event to resume from, waits for its
# time limit: the transport knows (onRequestStreamEnd), the client does not ask.
# Hurt: whoever calls a tool of a server behind a proxy that cuts streams, or that restarts: 60 s of nothing, or for ever with a longer limit,
# then "Request timed out", which says nothing of a connection.
# Seen: the stream ended after 0.1 s; the call failed after its 3 s with "Request timed out".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm pkg set type=module >/dev/null
npm install --no-audit --no-fund --ignore-scripts --loglevel=error @modelcontextprotocol/client@2.4.0 >/dev/null
cat >main.mjs <<'JS'
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
const server = createServer(async (request, response) => {
  if (request.method !== "POST") return response.writeHead(405).end();
  const { id, method, params } = JSON.parse(await text(request));
  if (id === undefined) return response.writeHead(202).end();
  if (method === "initialize") {
    const result = { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } };
    return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }
  response.writeHead(200, { "content-type": "text/event-stream" }).write(": nothing\n\n");
  setTimeout(() => response.end(), 100);
}).listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const client = new Client({ name: "finding", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${server.address().port}/mcp`)));
const began = Date.now();
const error = await client.callTool({ name: "go", arguments: {} }, { timeout: 3000 }).catch((reason) => reason);
console.log(error.message, Date.now() - began >= 2900 ? "after its limit" : "at once");
process.exit();
JS
output=$(node main.mjs)
echo "$output"
[ "$output" = "Request timed out after its limit" ]
