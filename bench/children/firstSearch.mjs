// The first search of a process, from before the import of the package.
import { ToolRegistry } from "@toolcrib/core";
import { answer, countLines } from "../pairs.mjs";

answer(async ({ tool, args }) => {
  const { createSearchTools } = await import("@toolcrib/tools-search");
  const started = performance.now();
  const registry = new ToolRegistry(createSearchTools({ cwd: process.argv[2], maxReplyBytes: Infinity }));
  const output = await registry.execute(tool, args, { timeoutMs: 120_000 });
  const searchMs = performance.now() - started;
  if (output.startsWith("Error")) throw new Error(output.slice(0, 300));
  return { count: countLines(output.split("\n\n[")[0]), searchMs };
});
