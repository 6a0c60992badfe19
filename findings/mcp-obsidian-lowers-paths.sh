#!/usr/bin/env bash
# 2026-11-28, mcp-obsidian@1.0.0 with @modelcontextprotocol/client@2.4.0 and zod@3.25.76, on Linux.
# The server writes every path in small letters before it opens a file. In a vault whose folder has a capital letter somewhere in its path no
# note is found, by reading or by searching; the answer names a path that nobody gave, and a failed read_notes is no error.
# Hurt: its users on Linux and on volumes that tell capital letters apart: /home/ann/Notes looks empty, /home/ann/notes works. A model
# that reads "Parent directory does not exist" looks for the fault in its own arguments.
# Seen: notes: "Buy milk."; Notes: "plan.md: Error - Parent directory does not exist: …/others", isError not set.
set -euo pipefail
folder=$(mktemp -u | tr 'A-Z' 'a-z')
trap 'rm -rf "$folder"' EXIT
mkdir "$folder" "$folder/notes" "$folder/Others"
cd "$folder"
echo "Buy milk." | tee notes/plan.md >Others/plan.md
npm init -y >/dev/null
npm pkg set type=module >/dev/null
npm install --no-audit --no-fund --ignore-scripts --loglevel=error mcp-obsidian@1.0.0 zod@3.25.76 @modelcontextprotocol/client@2.4.0 >/dev/null
cat >main.mjs <<'JS'
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
for (const vault of ["notes", "Others"]) {
  const client = new Client({ name: "finding", version: "1.0.0" });
  const args = ["node_modules/mcp-obsidian/dist/index.js", `${process.cwd()}/${vault}`];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "ignore" }));
  const { content, isError } = await client.callTool({ name: "read_notes", arguments: { paths: ["plan.md"] } });
  console.log(vault, isError ?? false, content[0].text.replace(process.cwd(), "…").trim().split("\n").join(" "));
  await client.close();
}
JS
output=$(node main.mjs)
echo "$output"
[ "$output" = "notes false plan.md: Buy milk.
Others false plan.md: Error - Parent directory does not exist: …/others" ]
