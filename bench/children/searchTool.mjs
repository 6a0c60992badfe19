// search_text and search_files as an agent calls them: through a registry, in this process.

import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import { ToolRegistry } from "@toolcrib/core";
import { answer, countLines } from "../pairs.mjs";

// As a machine of so many processors.
const takers = Number(process.env.TAKERS ?? 0);
if (takers > 0) {
  os.availableParallelism = () => takers;
  syncBuiltinESMExports();
}
const { createSearchTools } = await import("@toolcrib/tools-search");

const registries = new Map();

function registryFor(cwd) {
  const registry = registries.get(cwd) ?? new ToolRegistry(createSearchTools({ cwd, maxReplyBytes: Infinity }));
  registries.set(cwd, registry);
  return registry;
}

registryFor(process.argv[2]);

answer(async ({ tool, args, cwd = process.argv[2] }) => {
  const block = watchBlocks();
  const started = performance.now();
  const output = await registryFor(cwd).execute(tool, args, { timeoutMs: 120_000 });
  const ms = performance.now() - started;
  const blockMs = block.end();
  if (output.startsWith("Error")) throw new Error(output.slice(0, 300));
  return { ms, count: countLines(output.split("\n\n[")[0]), blockMs };
});

/** The most processor time between two turns of the event loop: what the rest of the program waited for, on a busy machine too. */
function watchBlocks() {
  let longest = 0;
  let last = process.threadCpuUsage();
  const look = () => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, (user + system) / 1000);
    last = process.threadCpuUsage();
  };
  const timer = setInterval(look, 1);
  return {
    end() {
      clearInterval(timer);
      look();
      return longest;
    },
  };
}
