// Runs all parts on the runtime that started it, and prints a line of JSON for each test that failed, and one with the counts.
import { realpathSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agent } from "./agent.mjs";
import { commands } from "./commands.mjs";
import { files } from "./files.mjs";
import { mcp } from "./mcp.mjs";
import { registry } from "./registry.mjs";
import { search } from "./search.mjs";
import { web } from "./web.mjs";

const parts = { registry, files, search, commands, web, agent, mcp };
const chosen = process.argv.slice(2);
const hangMs = 90_000;
const counts = {};
let folder;

/** Ends a test that hangs. */
function within(running) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`did not end in ${hangMs} ms`)), hangMs);
  });
  return Promise.race([running, late]).finally(() => clearTimeout(timer));
}

process.on("unhandledRejection", (error) => {
  console.log(JSON.stringify({ test: "nothing is rejected unheard", error: String(error?.stack ?? error) }));
  process.exitCode = 1;
});

for (const [part, declare] of Object.entries(parts)) {
  if (chosen.length > 0 && !chosen.includes(part)) continue;
  const tests = [];
  const endings = [];
  folder = realpathSync(await mkdtemp(join(tmpdir(), "toolcrib-runtimes-")));
  await declare({
    folder,
    test: (name, run) => tests.push([name, run]),
    atEnd: (run) => endings.push(run),
  });
  counts[part] = { passed: 0, failed: 0 };
  for (const [name, run] of tests) {
    try {
      await within(run());
      counts[part].passed += 1;
    } catch (error) {
      counts[part].failed += 1;
      console.log(JSON.stringify({ test: `${part}: ${name}`, error: String(error?.stack ?? error).slice(0, 1500) }));
    }
  }
  for (const end of endings) await end();
  await rm(folder, { recursive: true });
}
console.log(`COUNTS${JSON.stringify(counts)}`);
