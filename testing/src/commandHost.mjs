// The toolcrib command in a process that stays: calls its `main` for one list of arguments after the other, each in its folder, with
// its environment and its standard input. Argument: the built file that users start. On a terminal it prints there, and behind
// each call its exit code as a control string; elsewhere it answers with what was printed. `watch` begins to watch the event loop of
// the call that runs, or ends that and answers with the longest block.
import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { watchLoop } from "./watchLoop.ts";

const bin = process.argv[2];
const [, built] = /import\("(\.\/main-[\w-]+\.js)"\)/.exec(readFileSync(bin, "utf8"));
const { main } = await import(new URL(built, pathToFileURL(bin)));
const { stdout, stderr } = process;

let turn = Promise.resolve();
let loop;
process.on("message", (call) => {
  if (call.watch === undefined) turn = turn.then(() => run(call));
  else if (call.watch) loop = watchLoop();
  else process.send({ longestMs: loop.stop() });
});
process.on("disconnect", () => process.exit());

async function run({ args, cwd, env, input, columns, rows }) {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  if (input !== undefined) giveInput(input);
  // An input that an earlier call has read to its end never ends again.
  else if (!stdout.isTTY && (process.stdin.readableEnded || process.stdin.destroyed)) giveInput("");
  const before = listeners();
  if (stdout.isTTY) {
    while (String(stdout.getWindowSize()) !== String([columns, rows])) await pause(1);
    for (const stream of [stdout, stderr]) stream._refreshSize();
    const code = await main(args);
    end(before);
    // Nothing can be read after an end of input.
    if (process.stdin.readableEnded) process.exit(code);
    // Both streams are the terminal, and writes to it are done at once.
    stdout.write(`\u001b]9777;${code}\u0007`);
    return;
  }
  const printed = keepOutput();
  const code = await main(args);
  end(before);
  process.send({ code, ...printed });
}

function giveInput(text) {
  const stdin = new PassThrough();
  stdin.end(text);
  Object.defineProperty(process, "stdin", { value: stdin, configurable: true });
}

function keepOutput() {
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) {
    process[name].write = (text, ...rest) => {
      printed[name] += text;
      rest.find((one) => typeof one === "function")?.();
      return true;
    };
  }
  return printed;
}

function listeners() {
  return new Map(process.eventNames().map((name) => [name, process.rawListeners(name)]));
}

/** Does what the end of the process would do, and takes back what the call listens for. What listens once is for the process's own end. */
function end(before) {
  for (const [name, all] of listeners()) {
    const added = all.filter((listener) => !before.get(name)?.includes(listener) && !listener.listener);
    for (const listener of added) {
      if (name === "exit") listener();
      process.off(name, listener);
    }
  }
}
