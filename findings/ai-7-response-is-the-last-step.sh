#!/usr/bin/env bash
# 2026-11-30, ai@7.0.173 (and ai@6.0.325 beside it)
# `result.response.messages` of generateText holds the messages of the last step alone. In 5 and 6 the property of the same name and type held
# those of all steps, and was what one added to the history; now that is `result.responseMessages`.
# Hurt: whoever moves a chat from 6 to 7 and keeps `history.push(...result.response.messages)`: it compiles and runs, and every tool call and
# result before the last answer is gone from the conversation, so that the model calls the tools again in the next turn.
# Seen: "ai 6: 5 messages in response; ai 7: 1 in response, 5 in responseMessages".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm pkg set type=module >/dev/null
npm install --no-audit --no-fund --ignore-scripts --loglevel=error ai@7.0.173 ai6@npm:ai@6.0.325 zod@4.6.7 >/dev/null
cat >main.mjs <<'JS'
async function converse(name, model, usage, finish) {
  const { generateText, jsonSchema, stepCountIs, isStepCount, tool } = await import(name);
  const Model = (await import(`${name}/test`))[model];
  const inputSchema = jsonSchema({ type: "object", properties: { a: { type: "number" } }, required: ["a"] });
  const add = tool({ description: "Adds one.", inputSchema, execute: async ({ a }) => String(a + 1) });
  let step = 0;
  const doGenerate = async () => {
    step += 1;
    const call = { type: "tool-call", toolCallId: `c${step}`, toolName: "add", input: `{"a":${step}}` };
    const content = [step < 3 ? call : { type: "text", text: "done" }];
    return { content, finishReason: finish(step < 3 ? "tool-calls" : "stop"), usage, warnings: [] };
  };
  const stopWhen = (isStepCount ?? stepCountIs)(9);
  return generateText({ model: new Model({ doGenerate }), tools: { add }, prompt: "go", stopWhen });
}
const finish = (unified) => ({ unified, raw: undefined });
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const six = await converse("ai6", "MockLanguageModelV3", usage, finish);
const seven = await converse("ai", "MockLanguageModelV4", usage, finish);
const { response, responseMessages } = seven;
const rest = `${response.messages.length} in response, ${responseMessages.length} in responseMessages`;
console.log(`ai 6: ${six.response.messages.length} messages in response; ai 7: ${rest}`);
JS
output=$(node main.mjs)
echo "$output"
[ "$output" = "ai 6: 5 messages in response; ai 7: 1 in response, 5 in responseMessages" ]
