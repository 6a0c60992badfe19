// `node recorder.mjs LOG COMMAND …` runs a server, and keeps what it writes to standard output.
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";

const [log, command, ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ["inherit", "pipe", "inherit"] });
server.stdout.on("data", (chunk) => {
  appendFileSync(log, chunk);
  process.stdout.write(chunk);
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => server.kill(signal));
server.on("close", (code) => {
  process.exitCode = code ?? 1;
});
