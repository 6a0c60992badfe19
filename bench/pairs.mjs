// Candidate and baseline in turn, each in a process of its own; the ratio is taken round by round.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/**
 * A child process that runs one case: `file` (relative to bench/children) answers each message with `{ ms, count }`.
 * `env` and `args` reach it at its start.
 */
export function startChild(file, { args = [], env = {}, execArgv = [] } = {}) {
  const child = fork(fileURLToPath(new URL(`./children/${file}`, import.meta.url)), args.map(String), {
    env: { ...process.env, ...env },
    execArgv,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  // A send to a child that has just ended; its exit tells.
  child.on("error", () => {});
  return {
    ask: (message = {}) =>
      new Promise((resolve, reject) => {
        const done = (answer) => {
          child.off("exit", gone);
          answer.error ? reject(new Error(`${file}: ${answer.error}`)) : resolve(answer);
        };
        const gone = (code) => reject(new Error(`${file} ended with ${code}`));
        if (!child.connected) return gone(child.exitCode);
        child.once("message", done);
        child.once("exit", gone);
        child.send(message);
      }),
    end: () => {
      if (child.connected) child.disconnect();
      child.kill();
    },
  };
}

/** In a child: answers each message by timing `run(message)`, whose result is the count (or an object with more). */
export function answer(run) {
  process.on("message", async (message) => {
    try {
      const started = performance.now();
      const result = await run(message);
      const ms = performance.now() - started;
      process.send(typeof result === "object" && result !== null ? { ms, ...result } : { ms, count: result });
    } catch (error) {
      process.send({ error: String(error?.stack ?? error) });
    }
  });
}

/** `rounds` rounds of A then B (after one of each to warm up), as `{ ratio: {median,min,max}, a, b, counts }`. */
export async function pair(a, b, { rounds = 7, messageA = {}, messageB = {} } = {}) {
  await a.ask(messageA);
  await b.ask(messageB);
  const results = [];
  for (let round = 0; round < rounds; round += 1) {
    const first = await a.ask(messageA);
    const second = await b.ask(messageB);
    results.push({ ratio: first.ms / second.ms, a: first, b: second });
  }
  return {
    ratio: spread(results.map(({ ratio }) => ratio)),
    msA: spread(results.map((result) => result.a.ms)),
    msB: spread(results.map((result) => result.b.ms)),
    countA: results[0].a.count,
    countB: results[0].b.count,
    last: results.at(-1),
  };
}

export function spread(values) {
  const sorted = [...values].sort((x, y) => x - y);
  return { median: sorted[Math.floor(sorted.length / 2)], min: sorted[0], max: sorted.at(-1) };
}
