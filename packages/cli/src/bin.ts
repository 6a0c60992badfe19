#!/usr/bin/env node
const args = process.argv.slice(2);
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
  // Its reader has read enough: other programs are ended by SIGPIPE then, which Node ignores.
  if (code === "EPIPE") process.exit(128 + 13);
  const reason = code === "ENOSPC" ? "the disk is full" : message;
  process.stderr.write(`toolcrib: cannot write to standard output: ${reason}\n`);
  process.exit(1);
});
// Notes are lost then, but the answer on stdout is not.
process.stderr.on("error", () => {});

if (major < 22 || (major === 22 && minor < 18)) {
  // Checked before anything is loaded: an older Node could not parse it.
  process.stderr.write(
    `toolcrib: this needs Node.js 22.18 or later, and this is ${process.versions.node}; see https://nodejs.org\n`,
  );
  process.exitCode = 1;
} else if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
  // Nothing else is loaded for this: it answers as fast as Node starts.
  const { version } = await import("./version.ts");
  process.stdout.write(`${version()}\n`);
} else {
  const { keepCompiledCode } = await import("./state/compileCache.ts");
  const { findFolders } = await import("./state/folders.ts");
  keepCompiledCode(process.env, findFolders(process.env).state);
  if (/_proxy/i.test(Object.keys(process.env).join())) (await import("./state/proxies.ts")).useProxies(process.env);
  const { main } = await import("./main.ts");
  process.exitCode = await main(args, process);
  // A connection that a provider or tool holds open must not delay the exit.
  await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((done) => stream.write("", done))));
  process.exit();
}
