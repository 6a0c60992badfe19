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
      if (message.ping) return void process.send({ ms: 0, count: 0, ...memory() });
      const started = performance.now();
      const result = await run(message);
      const ms = performance.now() - started;
      process.send({
        ms,
        ...memory(),
        ...(typeof result === "object" && result !== null ? result : { count: result }),
      });
    } catch (error) {
      process.send({ error: String(error?.stack ?? error) });
    }
  });
}

function memory() {
  return { rssMb: process.memoryUsage.rss() / 2 ** 20 };
}

/** The end of a short run: after it no pair that has three rounds starts another. */
let deadline = Infinity;

export function endBy(time) {
  deadline = time;
}

/** `rounds` rounds of A then B (after one of each to warm up), as `{ ratio: {median,min,max}, msA, msB, countA, countB, last }`. */
export async function pair(a, b, { rounds = 7, messageA = {}, messageB = {} } = {}) {
  await a.ask(messageA);
  await b.ask(messageB);
  return compare(
    rounds,
    () => a.ask(messageA),
    () => b.ask(messageB),
  );
}

/** As `pair`, with another question in each round; every question has its messages for A and for B. */
export async function pairInTurn(a, b, questions, rounds = 7) {
  return compare(
    rounds,
    (round) => a.ask(questions[round % questions.length].messageA),
    (round) => b.ask(questions[round % questions.length].messageB),
  );
}

/** As `pair`, A being a new process in each round, which `prepare(child)` may warm up. */
export async function pairFresh(startA, b, { rounds = 7, messageA, messageB, prepare = () => {} }) {
  await b.ask(messageB);
  return compare(
    rounds,
    async () => {
      const child = startA();
      try {
        await child.ask({ ping: true });
        await prepare(child);
        return await child.ask(messageA);
      } finally {
        child.end();
      }
    },
    () => b.ask(messageB),
  );
}

async function compare(rounds, askA, askB) {
  const results = [];
  for (let round = 0; round < rounds && (round < 3 || performance.now() < deadline); round += 1) {
    const a = await askA(round);
    const b = await askB(round);
    results.push({ ratio: a.ms / b.ms, a, b });
  }
  const different = results.find(({ a, b }) => a.count !== b.count) ?? results[0];
  return {
    ratio: spread(results.map(({ ratio }) => ratio)),
    msA: spread(results.map(({ a }) => a.ms)),
    msB: spread(results.map(({ b }) => b.ms)),
    countA: different.a.count,
    countB: different.b.count,
    last: results.at(-1),
    rounds: results,
  };
}

export function spread(values) {
  const sorted = [...values].sort((x, y) => x - y);
  return { median: sorted[Math.floor(sorted.length / 2)], min: sorted[0], max: sorted.at(-1) };
}

/** Lines of a reply of the search tools. */
export function countLines(text) {
  if (text.startsWith("No matches")) return 0;
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}
