// Runs programs one after the other, each as `node FILE` would, in one process: what they import from packages is loaded once.
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

let block;
let count = 0;

// The files of a program are read anew for each one; packages stay loaded.
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const isOwn = block !== undefined && found.url.startsWith(block.folder) && !found.url.includes("/node_modules/");
    return isOwn ? { ...found, url: `${found.url}?block=${count}` } : found;
  },
});

process.on("message", ({ file, cwd, env }) => {
  count += 1;
  block = { folder: `${pathToFileURL(cwd).href}/`, ended: false };
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  // Only what the program starts keeps it alive.
  process.channel.unref();
  const own = block;
  // One that fails ends this process with its error.
  void import(new URL(file, block.folder).href).then(() => {
    own.ended = true;
  });
});

// The program has nothing left to do.
process.on("beforeExit", () => {
  if (block === undefined) return;
  if (!block.ended) process.exit(13);
  block = undefined;
  process.channel.ref();
  const mark = `\0${count}\0`;
  process.stdout.write(mark);
  process.stderr.write(mark);
  process.send({ code: process.exitCode ?? 0, mark });
  process.exitCode = undefined;
});
