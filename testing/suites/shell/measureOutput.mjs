/*
 * Run as a program of its own: runs one command through the built package and prints its peak memory and what came of it.
 * Usage: node measureOutput.mjs COMMAND. Plain JavaScript: stripping types would cost 15 MB.
 */
import { createRunBashTool } from "../../../packages/tools-bash/dist/index.js";
import { peakMb } from "../../src/peakMemory.mjs";

const answer = await createRunBashTool().execute({ command: process.argv[2], timeout: 500_000 });
const { stdout, stderr, exit_code } = JSON.parse(answer);
const lastLine = (text) => text.slice(-60).split("\n").at(-1);
console.log(JSON.stringify({ peakMb: peakMb(), exit_code, stdout: lastLine(stdout), stderr: lastLine(stderr) }));
