#!/usr/bin/env bash
# 2026-11-29, @langchain/core@1.4.0
# Arguments of a streamed tool call that end in the middle are filled up and count as valid: the call is in tool_calls, not in
# invalid_tool_calls, so an agent runs it. The same text in a reply that is not streamed is an invalid call.
# Who is hurt: agents whose model streams and meets its limit of tokens within a call: a file is written with half of its text.
# Seen: the call with {"path":"a.txt","content":"half"}, and no invalid call.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @langchain/core@1.4.0 2>/dev/null
cat >show.mjs <<'J'
import { AIMessageChunk } from "@langchain/core/messages";
const chunk = { type: "tool_call_chunk", name: "write_file", id: "1", index: 0, args: '{"path":"a.txt","content":"half' };
const { tool_calls, invalid_tool_calls } = new AIMessageChunk({ content: "", tool_call_chunks: [chunk] });
console.log(JSON.stringify(tool_calls[0].args), invalid_tool_calls.length);
J
node show.mjs | tee seen
[ "$(cat seen)" = '{"path":"a.txt","content":"half"} 0' ]
