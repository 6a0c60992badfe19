/*
 * Run as a program of its own: runs one command through the built package, and prints what came of it and by how much the peak of
 * memory grew, above that of a command without output.
 * Usage: node measureOutput.mjs COMMAND. Plain JavaScript: stripping types would cost 15 MB.
 */
import { createRunBashTool } from "../../../packages/tools-bash/dist/index.js";
import { peakMb } from "../../src/peakMemory.mjs";

const runBash = createRunBashTool();
await runBash.execute({ command: "true" });
const before = peakMb();
const answer = await runBash.execute({ command: process.argv[2], timeout: 500_000 });
const { stdout, stderr, exit_code } = JSON.parse(answer);
const lastLine = (text) => text.slice(-60).split("\n").at(-1);
console.log(
  JSON.stringify({ grownMb: peakMb() - before, exit_code, stdout: lastLine(stdout), stderr: lastLine(stderr) }),
);
