// npm run durable:show [-- --runs N] [--workers N] [--seed N] [--only NAME[,NAME]] [--faults NAME[,NAME]] [--requests N] [--limit SECONDS] [--pace N]
// Prints, in Markdown, what 1,000 durable runs of 20 steps cost on this machine, undisturbed, with a worker killed every second and with all
// faults at once (`--only undisturbed,killed,faults`), and what 100,000 runs would need by those figures. `--faults` chooses among restarts,
// readOnly, cuts, cancels and sleeps; `--requests` is the limit of the model, `--pace 4` makes faults a quarter as frequent (for a machine that
// has other work). It takes some minutes, and fails where a promise was not kept.
// `--only handwritten [--rounds N]` compares them with a workflow written by hand for the same engine, with the same steps and a model and tools
// that take no time; it fails where durable runs take fewer than 0.7 of its steps a second.
import { randomInt } from "node:crypto";
import { cpus, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { compare } from "@toolcrib/testing-agent/durable/compare";
import { show } from "@toolcrib/testing-agent/durable/show";

const text = (fallback) => ({ type: "string", default: String(fallback) });
const options = { runs: text(1000), workers: text(4), seed: text(randomInt(2 ** 31)), limit: text(600), pace: text(1) };
const names = {
  only: text("undisturbed,killed"),
  rounds: text(3),
  faults: text("restarts,readOnly,cuts,cancels,sleeps"),
};
const { values } = parseArgs({ options: { ...options, ...names, requests: { type: "string" } } });
const [runs, workers, seed] = [values.runs, values.workers, values.seed].map(Number);

const common = {
  plan: "long",
  runs,
  workers,
  seed,
  latencyMs: [500, 1500],
  toolMs: [20, 100],
  leaseMs: 5000,
  limitMs: Number(values.limit) * 1000,
  ...(values.requests !== undefined && { requests: Number(values.requests) }),
};
const pace = Number(values.pace);
const killEveryMs = 1_000 * pace;
const everyFault = {
  restarts: { restartEveryMs: 15_000 * pace },
  readOnly: { readOnlyMs: 20_000 },
  cuts: { cutEveryMs: 3_000 * pace },
  cancels: { cancelEveryMs: 500 * pace },
  sleeps: { sleepEveryMs: 4_000 * pace },
};
const faults = Object.assign({}, ...values.faults.split(",").map((name) => everyFault[name]));

const kinds = {
  undisturbed: { title: "undisturbed" },
  killed: { title: `a worker killed every ${pace === 1 ? "second" : `${pace} s`}`, killEveryMs },
  faults: { title: "the same with other faults", killEveryMs, faults },
  // One kind of fault without kills, by --faults.
  alone: { title: `${values.faults} alone`, faults },
};
const say = (line) => console.error(line);

if (values.only === "handwritten") process.exit(await showHandwritten());
say(`seed ${seed}`);
const concurrency = Math.ceil(runs / workers);
const shows = [];
for (const { title, ...more } of values.only.split(",").map((name) => kinds[name])) {
  const figures = await show({ ...common, concurrency, ...more }, say);
  if (!figures) process.exit(1);
  shows.push({ title, ...figures });
}
const problems = shows.flatMap(({ verdict }) => verdict.problems);
for (const { title, mostInFlight } of shows)
  if (mostInFlight > (common.requests ?? Number.POSITIVE_INFINITY))
    problems.push(`${title}: ${mostInFlight} requests at once, the limit was ${common.requests}`);
for (const problem of problems.slice(0, 50)) console.error(`NOT AS PROMISED: ${problem}`);
console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0].model}, ${Math.round(totalmem() / 2 ** 30)} GB`);
console.log(["", ...table(shows), "", ...(shows[0].title === "undisturbed" ? needs(shows[0]) : []), ""].join("\n"));
process.exitCode = problems.length === 0 ? 0 : 1;

/** Prints what durable runs cost beside a workflow written by hand, the medians of all rounds; returns the exit code. */
async function showHandwritten() {
  const rounds = await compare({ runs, workers, rounds: Number(values.rounds), calls: 10, latencyMs: 0 }, say);
  const median = (kind, figure) => {
    const figures = rounds.filter((one) => one.kind === kind).map(figure);
    return figures.sort((one, other) => one - other)[Math.floor(figures.length / 2)];
  };
  const speed = (kind) => median(kind, ({ stepsPerSecond }) => stepsPerSecond);
  const row = (name, kind) => {
    const perStep = (count) => round(median(kind, ({ steps, database }) => count(database) / steps));
    const counts = [({ statements }) => sum(statements), ({ commits }) => commits, ({ rows }) => sum(rows)];
    const ratio = round(speed(kind) / speed("handwritten"));
    return `| ${name} | ${round(speed(kind))} | ${ratio} | ${counts.map(perStep).join(" | ")} |`;
  };
  if (rounds.length === 0) return 1;
  const what = `${format(runs)} runs of 21 steps on ${workers} workers`;
  const each = ["statements", "transactions", "rows"].map((name) => `${name} per step`).join(" | ");
  console.log(`| ${what} | steps a second | to by hand | ${each} |`);
  console.log("| --- | --: | --: | --: | --: | --: |");
  console.log(row("a workflow of the same engine, written by hand", "handwritten"));
  console.log(row("durable runs, idempotent tools", "durable"));
  console.log(row("durable runs, tools whose calls are claimed", "claimed"));
  return speed("durable") >= 0.7 * speed("handwritten") ? 0 : 1;
}

function table(shows) {
  const row = (name, figure) => `| ${name} | ${shows.map(figure).join(" | ")} |`;
  // A server that restarts counts from nothing.
  const perStep = (number, { verdict, faults }) => (faults.restarts > 0 ? "–" : round(number / verdict.steps));
  return [
    `| ${format(runs)} runs of 20 steps on ${workers} workers | ${shows.map(({ title }) => title).join(" | ")} |`,
    `| --- |${" --: |".repeat(shows.length)}`,
    row("runs in a worker at once", () => concurrency),
    row("runs that ended with their answer, steps recorded once", ({ verdict }) =>
      verdict.problems.length === 0 ? `all, ${format(verdict.steps)}` : `${verdict.problems.length} problems`,
    ),
    row("workers killed", ({ kills }) => format(kills)),
    row(
      "other faults",
      ({ faults }) =>
        Object.entries(faults)
          .map(([what, times]) => `${times} ${what}`)
          .join(", ") || 0,
    ),
    row("most requests in flight, as the model counts them", ({ mostInFlight }) =>
      common.requests === undefined ? mostInFlight : `${mostInFlight}, limit ${common.requests}`,
    ),
    row("steps interrupted before their record and run again", ({ verdict }) => format(verdict.again)),
    row("interrupted calls that must not run twice, and did not", ({ verdict }) => verdict.unknown),
    row("steps run again because a living worker was believed dead", ({ verdict }) => verdict.silent),
    row("seconds", ({ seconds }) => round(seconds)),
    row("steps per second", ({ seconds, verdict }) => round(verdict.steps / seconds)),
    row("transactions per step, including single reads", (one) => perStep(one.database.commits, one)),
    row("rows written per step", (one) => perStep(sum(one.database.rows), one)),
    row("statements per step", (one) => perStep(sum(one.database.statements), one)),
    row("write-ahead log, KB per step", (one) => perStep(one.database.walBytes / 1000, one)),
    row("waits for the disk (flushes of that log), per step", (one) => perStep(one.database.walFlushes, one)),
    row("database, KB per run", ({ database }) => round(database.bytes / 1000 / runs)),
    row("connections at the end", ({ database }) => database.connections),
    row("open transactions in which PostgreSQL waits for the worker, on average", ({ connections }) =>
      round(connections["idle in transaction"] ?? 0),
    ),
    row("connections that wait for disk or locks, on average", ({ connections }) => round(waitingOf(connections))),
    row("processor time, ms per step: workers", (one) => perStep(one.cpu.workers * 1000, one)),
    row("processor time, ms per step: PostgreSQL", (one) => perStep(one.cpu.database * 1000, one)),
    row("processor time, ms per step: scripted model", (one) => perStep(one.cpu.model * 1000, one)),
    row("processor time, ms per step: client of the test", (one) => perStep(one.cpu.client * 1000, one)),
    row("steps per second for each core, all processes included", (one) => round(one.verdict.steps / sum(one.cpu))),
    row(
      "processor use of all processes",
      ({ cpu, cores, seconds }) => `${round((100 * sum(cpu)) / cores / seconds)} %`,
    ),
    row("highest memory of a worker, MB", ({ workerMegabytes }) => round(workerMegabytes)),
  ];
}

function waitingOf(connections) {
  return sum(Object.fromEntries(Object.entries(connections).filter(([state]) => state.startsWith("waiting"))));
}

/** The model: each figure is one of the first column, times a rate. */
function needs({ verdict, database, cpu, workerMegabytes }) {
  const load = 0.6;
  const each = (number) => number / verdict.steps;
  const columns = [5, 30].map((stepSeconds) => {
    const rate = 100_000 / stepSeconds;
    return {
      stepSeconds,
      rate,
      workerCores: (rate * each(cpu.workers)) / load,
      databaseCores: (rate * each(cpu.database)) / load,
      commits: rate * each(database.commits),
      log: (rate * each(database.walBytes)) / 1e6,
      growth: ((rate * each(database.bytes)) / 1e9) * 3600,
    };
  });
  const row = (name, figure) =>
    `| ${name} | ${columns.map((column) => format(Number(round(figure(column))))).join(" | ")} |`;
  return [
    `| 100,000 runs at once, a step every | ${columns.map(({ stepSeconds }) => `${stepSeconds} s`).join(" | ")} |`,
    `| --- |${columns.map(() => " --: |").join("")}`,
    row("steps per second", ({ rate }) => rate),
    row(`cores for workers, ${load * 100} % in use`, ({ workerCores }) => workerCores),
    row(`cores for PostgreSQL, ${load * 100} % in use`, ({ databaseCores }) => databaseCores),
    row("transactions per second", ({ commits }) => commits),
    row("write-ahead log, MB per second", ({ log }) => log),
    row("database, GB per hour", ({ growth }) => growth),
    row(
      `worker processes: one for every ${format(runs / workers)} runs or for every core, whichever is more`,
      ({ workerCores }) => Math.ceil(Math.max((100_000 * workers) / runs, workerCores)),
    ),
    row("memory of the workers, GB", () => (100_000 / (runs / workers)) * (workerMegabytes / 1000)),
  ];
}

function sum(numbers) {
  return Object.values(numbers).reduce((total, number) => total + number, 0);
}

function round(number) {
  return Math.abs(number) >= 100 ? Math.round(number) : Number(number.toPrecision(2));
}

function format(number) {
  return number.toLocaleString("en");
}
