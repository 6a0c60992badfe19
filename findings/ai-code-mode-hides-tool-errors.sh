#!/usr/bin/env bash
# 2026-11-29, @ai-sdk/code-mode@1.0.42 with ai@7.0.85, node@24.21.0
# A tool that throws tells the model why when the model calls it, but not when the model's program calls it: there every tool's error has
# one fixed text, without the tool's name or words. A program cannot tell "no such order" from "try again later".
# Hurt: whoever moves tools behind code mode and counts on their error texts for the model to mend its call.
# Seen: "direct: no order 7, the newest is 6; in a program: Host tool failed."
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error node@24.21.0 @ai-sdk/code-mode@1.0.42 ai@7.0.85 zod@4 >/dev/null
cat >program.mjs <<'JS'
import { DIRECT_TOOL_CALL, experimental_codeModeTool as codeModeTool } from "@ai-sdk/code-mode";
import { generateText, isStepCount, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
const order = tool({
  description: "Looks up an order.",
  inputSchema: z.object({ id: z.number() }),
  execute: async ({ id }) => {
    throw new Error(`no order ${id}, the newest is 6`);
  },
});
const js = "try { await tools.order({ id: 7 }); return 'found'; } catch (error) { return error.message; }";
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const call = (toolName, input) => ({
  content: [{ type: "tool-call", toolCallId: toolName, toolName, input: JSON.stringify(input) }],
  finishReason: { unified: "tool-calls" }, usage, warnings: [],
});
const end = { content: [{ type: "text", text: "done" }], finishReason: { unified: "stop" }, usage, warnings: [] };
const replies = [call("order", { id: 7 }), call("code_mode", { js }), end];
const { steps } = await generateText({
  model: new MockLanguageModelV4({ doGenerate: async () => replies.shift() }),
  tools: { code_mode: codeModeTool({}), order },
  experimental_toolCallers: { order: ["code_mode", DIRECT_TOOL_CALL] },
  stopWhen: isStepCount(4),
  prompt: "Look at order 7.",
});
const find = (type) => steps.flatMap(({ content }) => content).find((part) => part.type === type);
console.log(`direct: ${find("tool-error").error.message}; in a program: ${find("tool-result").output}`);
JS
output=$(node_modules/.bin/node --no-warnings program.mjs)
echo "$output"
[ "$output" = "direct: no order 7, the newest is 6; in a program: Host tool failed." ]
