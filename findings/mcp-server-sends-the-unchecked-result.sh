#!/usr/bin/env bash
# 2026-11-30, @modelcontextprotocol/server@2.4.0 and client@2.4.0 with zod@4.6.7
# A tool's structured result is parsed by its zod schema on the server (defaults put in, numbers coerced, other keys dropped), which accepts it;
# sent is not what came of that but what the tool returned. The client checks it against the schema that the same server published, in which a
# default is required and other keys are refused, and throws: a result that the server calls valid never reaches the caller.
# Hurt: authors of servers who return rows of a database as they are, or rely on `.default()`; their own tests without a client pass.
# Seen: "server: no error; client: refused default, refused coerced, refused key".
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
const add = (name, outputSchema, structuredContent) =>
  server.registerTool(name, { description: name, inputSchema: z.object({}), outputSchema }, async () => ({ content: [], structuredContent }));
add("plain", z.object({ a: z.string() }), { a: "x" });
add("default", z.object({ a: z.string(), limit: z.number().default(3) }), { a: "x" });
add("coerced", z.object({ a: z.coerce.number() }), { a: "5" });
add("key", z.object({ a: z.string() }), { a: "x", id: 1 });
const client = new Client({ name: "finding", version: "1.0.0" });
const [here, there] = InMemoryTransport.createLinkedPair();
const answers = [];
await Promise.all([server.connect(there), client.connect(here)]);
const { onmessage } = here;
here.onmessage = (message, ...rest) => (answers.push(message.result?.isError === true || "error" in message), onmessage(message, ...rest));
const { tools } = await client.listTools();
const refused = [];
for (const { name } of tools)
  await client.callTool({ name, arguments: {} }).catch(({ message }) => {
    if (message.includes("output schema")) refused.push(`refused ${name}`);
  });
console.log(`server: ${answers.includes(true) ? "an" : "no"} error; client: ${refused.join(", ")}`);
process.exit();
JS
output=$(node main.mjs)
echo "$output"
[ "$output" = "server: no error; client: refused default, refused coerced, refused key" ]
