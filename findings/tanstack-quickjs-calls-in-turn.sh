#!/usr/bin/env bash
# 2026-11-29, @tanstack/ai-isolate-quickjs@0.1.30 with @tanstack/ai-code-mode@0.2.5, node@24.21.0
# A program starts eight tools in one `Promise.all`. The driver suspends the whole engine at each call of the host, so the second tool
# begins when the first has ended, and no two are ever in flight: `Promise.all` takes the sum of the times, not the longest.
# Hurt: whoever gives models a tool for programs so that they fetch many things at once: it is as slow as a loop that awaits each.
# Seen: "8 calls in Promise.all, at most 1 in flight"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error node@24.21.0 @tanstack/ai-isolate-quickjs@0.1.30 @tanstack/ai-code-mode@0.2.5 >/dev/null
cat >program.mjs <<'JS'
import { setTimeout as wait } from "node:timers/promises";
import { createQuickJSIsolateDriver } from "@tanstack/ai-isolate-quickjs";
let running = 0;
let most = 0;
const execute = async ({ n }) => {
  running += 1;
  most = Math.max(most, running);
  await wait(30);
  running -= 1;
  return n;
};
const inputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
const bindings = { external_look: { name: "external_look", description: "Looks.", inputSchema, execute } };
const context = await createQuickJSIsolateDriver().createContext({ bindings });
const result = await context.execute(
  "return (await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((n) => external_look({ n })))).length;",
);
await context.dispose();
console.log(`${result.value} calls in Promise.all, at most ${most} in flight`);
JS
output=$(node_modules/.bin/node program.mjs)
echo "$output"
[ "$output" = "8 calls in Promise.all, at most 1 in flight" ]
