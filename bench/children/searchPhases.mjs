// The phases of a search, each timed by itself from outside: nothing in the product measures.

import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { MessageChannel, Worker } from "node:worker_threads";
import { answer } from "../pairs.mjs";

const root = process.argv[2];
const dist = dirname(createRequire(import.meta.url).resolve("@toolcrib/tools-search"));
const nowhere = "no such text anywhere";

answer(async () => {
  const phases = {};
  const timed = async (phase, work) => {
    const started = performance.now();
    const result = await work();
    phases[phase] = performance.now() - started;
    return result;
  };
  const { createSearchTools } = await timed("import of the package", () => import("@toolcrib/tools-search"));
  const [text, files] = createSearchTools({ cwd: root, maxReplyBytes: Infinity });
  await timed("start of a thread", startThread);
  await timed("first search of the process", () => text.execute({ query: nowhere, paths: ["."] }, {}));
  // Both threads started and their code compiled, on files of another tree.
  const [elsewhere] = createSearchTools({ cwd: dist });
  const one = { query: "a", paths: ["index.js"], regex: true };
  for (let time = 0; time < 50; time += 1) await elsewhere.execute(one, {});
  await timed("messages there and back", () => elsewhere.execute(one, {}));
  phases["wake-up of another thread"] = await wakeUp();
  await timed("walk", () => files.execute({ pattern: "no/such/file", max_results: 1 }, {}));
  await timed("later search, nowhere", () => text.execute({ query: nowhere, paths: ["."] }, {}));
  await timed("later search, in most files", () => text.execute({ query: "e", paths: ["."], mode: "files" }, {}));
  const paths = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  await timed("stat of every file, one thread", () => {
    for (const path of paths) statSync(path);
  });
  const read = await timed("open, read and close of every file, one thread", () => readAll(paths));
  await timed("scan of as many bytes, one thread", () => {
    for (let scanned = 0; scanned < read; scanned += block.length) block.indexOf("nowhere");
  });
  return { count: paths.length, phases };
});

function startThread() {
  return new Promise((resolve, reject) => {
    const worker = new Worker(join(dist, "searchWorker.mjs"), { workerData: new SharedArrayBuffer(2 ** 19) });
    worker.once("error", reject);
    worker.once("message", () => resolve(worker.terminate()));
  });
}

/** A message to a thread that sleeps, and its answer. */
async function wakeUp() {
  const code =
    'const { workerData } = require("node:worker_threads"); workerData.on("message", (m) => workerData.postMessage(m));';
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(code, { eval: true, workerData: port2, transferList: [port2] });
  const ask = () =>
    new Promise((resolve) => {
      port1.once("message", resolve);
      port1.postMessage(1);
    });
  await ask();
  const started = performance.now();
  await ask();
  const ms = performance.now() - started;
  await worker.terminate();
  return ms;
}

const block = Buffer.allocUnsafeSlow(2 ** 20).fill("e");

function readAll(paths) {
  let bytes = 0;
  for (const path of paths) {
    const descriptor = openSync(path);
    bytes += readSync(descriptor, block, 0, block.length, null);
    closeSync(descriptor);
  }
  return bytes;
}
