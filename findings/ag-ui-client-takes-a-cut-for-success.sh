#!/usr/bin/env bash
# 2026-11-29, @ag-ui/client@1.0.0
# The client checks the order of events strictly: a message left open at RUN_FINISHED is an error. So one guesses that a stream
# that ends without RUN_FINISHED or RUN_ERROR is one too, and that `runAgent` rejects on RUN_ERROR. It does neither: a body
# that ends properly in the middle of a call resolves, `onRunFailed` is not called, `newMessages` holds the call with the half of its
# arguments, and the next run sends it. After RUN_ERROR the promise resolves with what had come, too.
# Hurt: pages that await `runAgent` to know whether an answer is whole; servers that are sent half a call as history.
# Seen:
#   open rejects: Cannot send 'RUN_FINISHED' while text messages are still active: m
#   cut resolves, started: [{"id":"c","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"pay","arguments":"{\"amount\":10"}}]}]
#   error resolves, started error: [{"id":"m","role":"assistant","content":"Pay 10"}]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @ag-ui/client@1.0.0 @ag-ui/core@1.0.0 >/dev/null 2>&1
cat >run.mjs <<'JS'
import http from "node:http";
import { HttpAgent } from "@ag-ui/client";

const started = { type: "RUN_STARTED", threadId: "t", runId: "r" };
const text = [
  { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "Pay 10" },
];
const streams = {
  open: [started, ...text, { type: "RUN_FINISHED", threadId: "t", runId: "r" }],
  cut: [
    started,
    { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "pay" },
    { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: '{"amount":10' },
  ],
  error: [started, ...text, { type: "RUN_ERROR", message: "out of money" }],
};
const server = http.createServer((request, response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of streams[request.url.slice(1)]) response.write(`data: ${JSON.stringify(event)}\n\n`);
  setTimeout(() => response.end(), 50);
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
console.error = () => {};
for (const name of Object.keys(streams)) {
  const seen = [];
  const agent = new HttpAgent({ url: `http://127.0.0.1:${server.address().port}/${name}`, threadId: "t" });
  const calls = { onRunStartedEvent: "started", onRunFinishedEvent: "finished", onRunErrorEvent: "error", onRunFailed: "failed" };
  const subscriber = Object.fromEntries(Object.entries(calls).map(([key, word]) => [key, () => void seen.push(word)]));
  await agent.runAgent({ runId: "r" }, subscriber).then(
    ({ newMessages }) => console.log(`${name} resolves, ${seen.join(" ")}: ${JSON.stringify(newMessages)}`),
    (error) => console.log(`${name} rejects: ${error.message}`),
  );
}
server.close();
JS
node run.mjs | tee out.txt
grep -q "^open rejects" out.txt && grep -q '^cut resolves, started: .*amount' out.txt && grep -q "^error resolves, started error" out.txt
