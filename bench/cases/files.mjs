import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { sandboxProblem } from "@toolcrib/tools-bash";
import { createSandboxRuntime } from "@toolcrib/tools-bash/sandbox-runtime";
import sharp from "sharp";
import { pair, spread, startChild } from "../pairs.mjs";

/** On the disk that holds the project, as temporary folders are often in memory. */
export async function files(report, { rounds }) {
  const folder = mkdtempSync(fileURLToPath(new URL("../.corpora-files-", import.meta.url)));
  try {
    await readFile(report, folder, rounds);
    await readPicture(report, folder, rounds);
    await writeFile(report, folder, rounds);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function readFile(report, folder, rounds) {
  const lines = makeLargeFile(`${folder}/large.log`);
  const tool = startChild("files.mjs", { args: ["readTool", folder] });
  const readline = startChild("files.mjs", { args: ["readline", folder] });
  const first = { path: "large.log", offset: 1, limit: 200 };
  await tool.ask(first);
  const times = [];
  for (let round = 0; round < rounds * 5; round += 1) times.push((await tool.ask(first)).ms);
  report({ name: "read_file, first 200 lines of 1 GB", value: spread(times).median, unit: "ms", goal: 2 });
  const message = { path: "large.log", offset: lines - 250, limit: 200 };
  report({
    name: "read_file, 200 lines at the end of 1 GB, to readline",
    goal: 1 / 5,
    ...(await pair(tool, readline, { rounds: 3, messageA: message, messageB: message })),
  });
  tool.end();
  readline.end();
}

async function readPicture(report, folder, rounds) {
  const few = { width: 200, height: 150, channels: 3 };
  const colours = Buffer.from(Array.from({ length: few.width * few.height * 3 }, (_, index) => (index * 7919) % 251));
  await sharp(colours, { raw: few }).resize(4000, 3000).jpeg().toFile(`${folder}/photo.jpg`);
  const tool = startChild("files.mjs", { args: ["pictureTool", folder] });
  const alone = startChild("files.mjs", { args: ["pictureAlone", folder] });
  await compare(report, "read_file, a photo of 4000 x 3000 made smaller, to sharp alone", 1.2, tool, alone, rounds);
  tool.end();
  alone.end();
}

async function writeFile(report, folder, rounds) {
  const tool = startChild("files.mjs", { args: ["writeTool", folder] });
  const plain = startChild("files.mjs", { args: ["writePlain", folder] });
  await compare(report, "write_file 4 KB, to open, write, fsync, close", 2, tool, plain, rounds);
  plain.end();
  const peer = startChild("files.mjs", { args: ["writeAtomicPeer", folder] });
  try {
    await compare(report, "write_file 4 KB, to write-file-atomic", 1 / 2, tool, peer, rounds);
  } catch (error) {
    report({ name: "write_file 4 KB, to write-file-atomic", missing: error.message.split("\n")[0] });
  }
  peer.end();
  tool.end();
}

async function compare(report, name, goal, tool, peer, rounds) {
  report({ name, goal, ...(await pair(tool, peer, { rounds })), sameCount: true });
}

/** About 1 GB of lines of 10 to 170 characters; returns how many. */
function makeLargeFile(path) {
  const descriptor = openSync(path, "w");
  let block = "";
  let blockLines = 0;
  while (block.length < 2 ** 20) {
    block += `${String(blockLines).padStart(8)} ${"a log line with some words in it ".repeat(blockLines % 6)}\n`;
    blockLines += 1;
  }
  for (let index = 0; index < 1000; index += 1) writeSync(descriptor, block);
  closeSync(descriptor);
  return blockLines * 1000;
}

export async function shell(report, { rounds }) {
  const tool = startChild("shell.mjs");
  const bare = startChild("shell.mjs");
  report({
    name: "run_bash, start of a command, to execFile",
    goal: 1.15,
    ...(await pair(tool, bare, { rounds, messageA: { kind: "tool" }, messageB: { kind: "bare" } })),
    sameCount: true,
  });
  bare.end();
  tool.end();
  await sandboxes(report, rounds);
  const loud = startChild("shell.mjs");
  const { rssMb, count } = await loud.ask({ kind: "output", command: "head -c 1073741824 /dev/zero | tr '\\0' x" });
  loud.end();
  report({ name: "run_bash, 1 GB of output, peak memory", value: rssMb, unit: "MB", goal: 75, void: count !== 0 });
}

async function sandboxes(report, rounds) {
  const name = "run_bash, a command in sandbox-runtime, to one in bubblewrap";
  const problems = await Promise.all([true, createSandboxRuntime()].map((sandbox) => sandboxProblem({ sandbox })));
  const missing = problems.find((problem) => problem !== undefined);
  if (missing !== undefined) return report({ name, missing });
  const runtime = startChild("shell.mjs");
  const plain = startChild("shell.mjs");
  const messages = { messageA: { kind: "runtime" }, messageB: { kind: "bubblewrap" } };
  report({ name, ...(await pair(runtime, plain, { rounds, ...messages })), sameCount: true });
  plain.end();
  runtime.end();
}
