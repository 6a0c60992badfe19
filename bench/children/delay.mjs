// A channel to a remote that takes its time: node delay.mjs MS FILE COMMAND [ARG …] runs the command, and passes on each piece of
// input and output half of MS later. FILE holds how often a question was sent after an answer: the round trips.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";

const [ms, file, command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
let trips = 0;
let isAnswering = true;
const later = (pass) => setTimeout(pass, Number(ms) / 2);
process.stdin.on("data", (piece) => {
  if (isAnswering) writeFileSync(file, String(++trips));
  isAnswering = false;
  later(() => child.stdin.write(piece));
});
process.stdin.on("end", () => later(() => child.stdin.end()));
child.stdout.on("data", (piece) =>
  later(() => {
    isAnswering = true;
    process.stdout.write(piece);
  }),
);
child.stdin.on("error", () => {});
child.on("close", () => later(() => process.exit()));
