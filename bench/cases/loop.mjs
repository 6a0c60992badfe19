import { pair, spread, startChild } from "../pairs.mjs";

/** Runs of 1,000 steps until what is hot has been compiled. */
const warmUps = 40;

/** The costs of the loop and the registry themselves, and of peers'. */
export async function loop(report, { rounds }) {
  const own = startChild("loop.mjs", { execArgv: ["--expose-gc"] });
  for (let warm = 0; warm < warmUps; warm += 1) await own.ask();
  const runs = [];
  for (let round = 0; round < rounds; round += 1) runs.push(await own.ask());
  report({
    name: "agent loop, in process, with validation",
    value: spread(runs.map(({ ms }) => ms)).median,
    unit: "µs a step",
  });
  report({
    name: "agent loop, last 100 steps to first 100",
    value: spread(runs.map(({ growth }) => growth)).median,
    unit: "times",
    goal: 1.3,
  });
  report({
    name: "agent loop, heap kept a 1,000 steps",
    value: (await own.ask({ heap: true })).heapMb,
    unit: "MB",
    goal: 1,
  });
  for (const [file, peer, goal] of [
    ["loopPi.mjs", "pi-agent-core", 1],
    ["loopAi.mjs", "ai"],
    ["loopOpenaiAgents.mjs", "@openai/agents"],
  ]) {
    const other = startChild(file);
    try {
      // Both as warm as in a long run; the slower peers need no more than the first round.
      for (let warm = 0; goal && warm < warmUps; warm += 1) await other.ask();
      report({
        name: `agent loop, 1,000 steps, to ${peer}`,
        goal,
        ...(await pair(own, other, { rounds: goal ? rounds : 3 })),
        sameCount: true,
      });
    } catch (error) {
      report({ name: `agent loop, 1,000 steps, to ${peer}`, missing: error.message.split("\n")[0] });
    } finally {
      other.end();
    }
  }
  own.end();
}

/** Measures the time that looking for repeated calls adds to a step. */
export async function repeats(report, { rounds }) {
  const [watched, plain] = [{ stopRepeats: {} }, {}].map((options) =>
    startChild("loop.mjs", { args: [JSON.stringify(options)] }),
  );
  for (let warm = 0; warm < warmUps; warm += 1) for (const child of [watched, plain]) await child.ask();
  report({
    name: "agent loop, 1,000 steps with stopRepeats, to the same without",
    ...(await pair(watched, plain, { rounds })),
    sameCount: true,
  });
  watched.end();
  plain.end();
}

export async function registry(report, { rounds }) {
  const child = startChild("registry.mjs");
  await child.ask();
  const runs = [];
  for (let round = 0; round < rounds; round += 1) runs.push(await child.ask());
  child.end();
  report({
    name: "registry.execute of a no-op tool, above calling it",
    value: spread(runs.map(({ addedUs }) => addedUs)).median,
    unit: "µs",
    goal: 3,
  });
  report({
    name: "a second getEnabledSchemas()",
    value: spread(runs.map(({ schemasUs }) => schemasUs)).median,
    unit: "µs",
    goal: 1,
  });
}
