#!/usr/bin/env bash
# 2026-11-29, @agentclientprotocol/sdk@2.4.0
# Messages that arrive together reach their handlers in the order in which the handlers were registered, not in that of the messages: each
# handler that does not match costs a turn of the microtask queue, and nothing waits between two messages.
# Hurt: agents whose session/cancel is registered some handlers behind session/prompt: a client that stops a turn and sends the next message
# in one write has the new message cancelled, and a cancel while nothing runs cancels the prompt behind it.
# Seen: sent "cancel, prompt"; handled "prompt, cancel".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm pkg set type=module >/dev/null
npm install --no-audit --no-fund --ignore-scripts --loglevel=error @agentclientprotocol/sdk@2.4.0 >/dev/null
cat >main.mjs <<'JS'
import { PassThrough, Readable, Writable } from "node:stream";
import { agent, ndJsonStream } from "@agentclientprotocol/sdk";
const handled = [];
const [input, output] = [new PassThrough(), new PassThrough()];
agent({ name: "finding" })
  .onRequest("session/prompt", () => {
    handled.push("prompt");
    return { stopReason: "end_turn" };
  })
  .onRequest("session/load", () => ({}))
  .onRequest("session/list", () => ({ sessions: [] }))
  .onRequest("session/close", () => ({}))
  .onRequest("session/set_mode", () => ({}))
  .onRequest("session/set_config_option", () => ({ configOptions: [] }))
  .onNotification("session/cancel", () => void handled.push("cancel"))
  .connect(ndJsonStream(Writable.toWeb(output), Readable.toWeb(input)));
const line = (message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
const cancel = line({ method: "session/cancel", params: { sessionId: "s" } });
input.write(cancel + line({ id: 1, method: "session/prompt", params: { sessionId: "s", prompt: [] } }));
setTimeout(() => {
  console.log(handled.join(", "));
  process.exit();
}, 200);
JS
output=$(node main.mjs)
echo "$output"
[ "$output" = "prompt, cancel" ]
