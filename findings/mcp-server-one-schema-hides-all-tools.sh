#!/usr/bin/env bash
# 2026-11-30, @modelcontextprotocol/server@2.4.0 with zod@4.6.7
# `registerTool` takes a zod schema that has no JSON Schema (a date, a bigint) without a word; the conversion is made at each `tools/list`, and
# there one such tool fails the answer for all: the client gets no tool, and an error that does not say which one it was. Calls still work.
# Hurt: authors of servers who register tools one by one or while running: a server that has worked for weeks shows nothing after one more.
# Seen: "registered; list: Date cannot be represented in JSON Schema; call of the other: found".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm pkg set type=module >/dev/null
npm install --no-audit --no-fund --ignore-scripts --loglevel=error \
  @modelcontextprotocol/server@2.4.0 @modelcontextprotocol/client@2.4.0 zod@4.6.7 >/dev/null
cat >main.mjs <<'JS'
import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
const server = new McpServer({ name: "finding", version: "1.0.0" });
const reply = (text) => async () => ({ content: [{ type: "text", text }] });
server.registerTool("find", { description: "Finds.", inputSchema: z.object({ word: z.string() }) }, reply("found"));
const client = new Client({ name: "finding", version: "1.0.0" });
const [here, there] = InMemoryTransport.createLinkedPair();
await Promise.all([server.connect(there), client.connect(here)]);
const list = () =>
  client.listTools().then(
    ({ tools }) => `${tools.length} tools`,
    (error) => error.message,
  );
if ((await list()) !== "1 tools") throw new Error("the first tool is not listed");
server.registerTool("remind", { description: "Reminds.", inputSchema: z.object({ at: z.date() }) }, reply("noted"));
const { content } = await client.callTool({ name: "find", arguments: { word: "a" } });
console.log(`registered; list: ${await list()}; call of the other: ${content[0].text}`);
process.exit();
JS
output=$(node main.mjs)
echo "$output"
[ "$output" = "registered; list: Date cannot be represented in JSON Schema; call of the other: found" ]
