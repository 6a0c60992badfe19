// search_text and search_files as an agent calls them: through the registry, in a warm process.

import { ToolRegistry } from "@toolcrib/core";
import { createSearchTools } from "@toolcrib/tools-search";
import { answer } from "../pairs.mjs";

const registry = new ToolRegistry();
for (const tool of createSearchTools({ cwd: process.argv[2], maxReplyBytes: Infinity })) registry.register(tool);

answer(async ({ tool, args }) => {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last - 1);
    last = now;
  }, 1);
  const output = await registry.execute(tool, args, { timeoutMs: 120_000 });
  clearInterval(timer);
  longest = Math.max(longest, performance.now() - last - 1);
  if (output.startsWith("Error")) throw new Error(output.slice(0, 300));
  const body = output.split("\n\n[")[0];
  return { count: countLines(body), blockMs: longest, rssMb: process.memoryUsage.rss() / 2 ** 20 };
});

function countLines(text) {
  if (text.startsWith("No matches")) return 0;
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}
