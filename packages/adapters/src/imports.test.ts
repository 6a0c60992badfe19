import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** The packages that a source file loads when it runs, its own files followed. */
function loadedBy(file: string): Set<string> {
  const source = readFileSync(new URL(file, import.meta.url), "utf8");
  const loaded = new Set<string>();
  for (const [, from = ""] of source.matchAll(/^(?:import|export) (?!type )[^;]*? from "([^"]+)";$/gm)) {
    for (const name of from.startsWith("./") ? loadedBy(from) : [from]) loaded.add(name);
  }
  return loaded;
}

const subpaths: [file: string, ...loads: string[]][] = [
  ["./aiSdk.ts", "@toolcrib/core", "@toolcrib/core/internal", "ai"],
  ["./anthropic.ts", "@anthropic-ai/sdk/lib/tools/ToolError", "@toolcrib/core", "@toolcrib/core/internal"],
  ["./gemini.ts", "@toolcrib/core/internal"],
  [
    "./langchain.ts",
    "@langchain/core/messages",
    "@langchain/core/tools",
    "@langchain/core/utils/json_schema",
    "@toolcrib/core",
    "@toolcrib/core/internal",
  ],
  ["./openai.ts", "@toolcrib/core", "@toolcrib/core/internal"],
  ["./openaiAgents.ts", "@openai/agents", "@toolcrib/core/internal"],
];

test.each(subpaths)("%s loads core and its own loop's package at most", (file, ...loads) => {
  expect([...loadedBy(file)].sort()).toEqual(loads);
});
