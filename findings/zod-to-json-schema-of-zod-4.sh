#!/usr/bin/env bash
# 2026-11-28, zod-to-json-schema@3.25.2 with zod@4.6.7, as npm installs them together.
# zod-to-json-schema names "^3.25.28 || ^4" as the zod that it takes, and turns every schema of zod 4's main entry into one that has only a
# `$schema`: no error, no warning. The same schema from "zod/v3" of the same zod is converted.
# Hurt: users of MCP servers of 2024 and 2025 that leave zod to this package's peer range (mcp-obsidian@1.0.0 does): installed today, their
# tools lose their arguments, and as the schemas have no `type` the official clients refuse the whole list. z.toJSONSchema is right.
# Seen: zod: {"$schema":"http://json-schema.org/draft-07/schema#"}; zod/v3: type object, properties query.
#       listTools: Invalid result for tools/list.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm pkg set type=module >/dev/null
npm install --no-audit --no-fund --ignore-scripts --loglevel=error zod@4.6.7 zod-to-json-schema@3.25.2 mcp-obsidian@1.0.0 \
  @modelcontextprotocol/client@2.4.0 >/dev/null
cat >main.mjs <<'JS'
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { z } from "zod";
import { z as older } from "zod/v3";
import { zodToJsonSchema } from "zod-to-json-schema";
const keys = (zod) => Object.keys(zodToJsonSchema(zod.object({ query: zod.string() }))).sort().join(" ");
console.log(`zod: ${keys(z)}; zod/v3: ${keys(older)}`);
const client = new Client({ name: "finding", version: "1.0.0" });
await client.connect(
  new StdioClientTransport({ command: process.execPath, args: ["node_modules/mcp-obsidian/dist/index.js", "."], stderr: "ignore" }),
);
console.log(await client.listTools().then(() => "listed", ({ message }) => `listTools: ${message.split(":")[0]}`));
await client.close();
JS
output=$(node main.mjs)
echo "$output"
[ "$output" = 'zod: $schema; zod/v3: $schema additionalProperties properties required type
listTools: Invalid result for tools/list' ]
