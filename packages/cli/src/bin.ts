#!/usr/bin/env node
const args = process.argv.slice(2);

if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
  // Nothing is imported for this: it answers as fast as Node starts.
  const { readFileSync } = process.getBuiltinModule("node:fs");
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
  process.stdout.write(`${manifest.version}\n`);
} else {
  const { main } = await import("./main.ts");
  process.exitCode = await main(args);
  // Whatever a provider or a tool may still hold open (a kept connection) must not keep the terminal waiting.
  await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((done) => stream.write("", done))));
  process.exit();
}

export {};
