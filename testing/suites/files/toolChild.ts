// Runs file tools for a test that kills it, traces it or measures it: a JSON request a line on standard input
// ({ tool, args, options }), a JSON answer a line on standard output.
import { registerHooks } from "node:module";
import { createInterface } from "node:readline";
import { peakMb } from "../../src/peakMemory.mjs";

// From the sources, as the tests do, so that no build is needed.
const sources = new URL("../../../packages/", import.meta.url);
registerHooks({
  resolve(specifier, context, next) {
    const own = /^@toolcrib\/(core|kit)(?:\/(\w+))?$/.exec(specifier);
    return next(own ? new URL(`${own[1]}/src/${own[2] ?? "index"}.ts`, sources).href : specifier, context);
  },
});
const { ToolRegistry } = await import("@toolcrib/core");
const { createFsTools } = await import("../../../packages/tools-fs/src/fileSystem.ts");

process.stdout.write("ready\n");
for await (const line of createInterface({ input: process.stdin })) {
  const { tool, args, options } = JSON.parse(line);
  const registry = new ToolRegistry();
  for (const one of createFsTools(options)) registry.register(one);
  const start = performance.now();
  const output = await registry.execute(tool, args);
  const maxRssMb = peakMb();
  process.stdout.write(`${JSON.stringify({ output, ms: performance.now() - start, maxRssMb })}\n`);
}
