// gemini-cli-core's grep tool, its JavaScript fallback: the programs it would rather spawn are kept off its PATH.

import { answer } from "../pairs.mjs";
import { importPeer, installPeer } from "../peers.mjs";

const home = installPeer("gemini-cli-core");
process.env.PATH = "/nonexistent";
const core = await importPeer(home, "@google/gemini-cli-core");
const root = process.argv[2];
const config = new core.Config({
  sessionId: "bench",
  targetDir: root,
  cwd: root,
  debugMode: false,
  model: "none",
  telemetry: { enabled: false },
});
const tool = new core.GrepTool(config, { publish() {}, subscribe() {}, unsubscribe() {}, on() {}, off() {} });

answer(async ({ pattern }) => {
  const result = await tool
    .build({ pattern, total_max_matches: 1e9 })
    .execute({ abortSignal: new AbortController().signal });
  const text = String(result.llmContent);
  if (result.error) throw new Error(text.slice(0, 300));
  return (text.match(/^L\d+[:-]/gm) ?? []).length;
});
