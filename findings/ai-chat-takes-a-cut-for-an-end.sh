#!/usr/bin/env bash
# 2026-11-29, ai@7.0.173 with @ai-sdk/react@4.0.177
# One guesses that a chat whose answer stops in the middle ends in an error, or that `onFinish` at least says so with
# `isDisconnect`, since the protocol has a `finish` part and `[DONE]`. Neither is asked for: a body that ends properly in the
# middle (a worker that dies behind a proxy, a platform's time limit) leaves `status` "ready", no error, all flags false.
# A server's `abort` part does not set `isAbort` either. What tells is the part's `state`, which stays "streaming",
# and a tool call's "input-streaming", with the input that had come.
# Hurt: pages that show half an answer as the answer, and stores that keep it from `onFinish`.
# Seen:
#   whole ready undefined no flags done
#   middle ready undefined no flags streaming
#   call ready undefined no flags input-streaming {"amount":10}
#   abort ready undefined no flags streaming
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ai@7.0.173 @ai-sdk/react@4.0.177 react@19.3.1 >/dev/null 2>&1
cat >run.mjs <<'JS'
import http from "node:http";
import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";

const text = [{ type: "start" }, { type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: "Pay 10" }];
const answers = {
  whole: [...text, { type: "text-end", id: "1" }, { type: "finish" }, "[DONE]"],
  middle: text,
  call: [
    { type: "start" },
    { type: "tool-input-start", toolCallId: "c", toolName: "pay", dynamic: true },
    { type: "tool-input-delta", toolCallId: "c", inputTextDelta: '{"amount":10' },
  ],
  abort: [...text, { type: "abort" }, "[DONE]"],
};
const server = http.createServer((request, response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const part of answers[request.url.slice(1)])
    response.write(`data: ${typeof part === "string" ? part : JSON.stringify(part)}\n\n`);
  setTimeout(() => response.end(), 50);
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
for (const name of Object.keys(answers)) {
  let end;
  const transport = new DefaultChatTransport({ api: `http://127.0.0.1:${server.address().port}/${name}` });
  const chat = new Chat({ transport, onFinish: (event) => (end = event) });
  await chat.sendMessage({ text: "hi" });
  const part = chat.messages.at(-1).parts.at(-1);
  const flags = ["isAbort", "isDisconnect", "isError"].filter((each) => end[each]);
  console.log(name, chat.status, chat.error, flags.join() || "no flags", part.state, part.input ? JSON.stringify(part.input) : "");
}
server.close();
JS
node run.mjs | sed 's/ *$//' | tee out.txt
diff out.txt <(printf '%s\n' "whole ready undefined no flags done" "middle ready undefined no flags streaming" \
  'call ready undefined no flags input-streaming {"amount":10}' "abort ready undefined no flags streaming")
