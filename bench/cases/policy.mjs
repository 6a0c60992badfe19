import { spread, startChild } from "../pairs.mjs";

/** The processor time of a policy's decision: about a file, and about a shell line of 100 characters, files that it names looked at. */
export async function policy(report, { rounds }) {
  const child = startChild("policy.mjs");
  await child.ask();
  const runs = [];
  for (let round = 0; round < rounds; round += 1) runs.push(await child.ask());
  child.end();
  const row = (name, value, goal) => report({ name, value: spread(runs.map(value)).median, unit: "µs", goal });
  row("policy, a decision about a file", ({ fileUs }) => fileUs, 20);
  row("policy, a decision about a shell line of 100 characters", ({ lineUs }) => lineUs, 200);
}
