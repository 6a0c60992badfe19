import { availableParallelism } from "node:os";
import { corpus, queries } from "../corpora.mjs";
import { spread, startChild } from "../pairs.mjs";

/** The share of the gain of `rg -j` by more threads that more takers must reach. */
const leastGain = 0.8;

/** Compares more takers with `rg -j` of as many threads, in later searches of a tree. All take part in each round. */
export async function searchTakers(report, { corpora, rounds }) {
  const processors = availableParallelism();
  for (const name of corpora) {
    const root = corpus(name);
    if (!root) continue;
    const { regex } = queries[name];
    const args = { query: regex, regex: true, paths: ["."], max_results: 100_000_000 };
    const sides = [1, 2, 4].map((takers) => ({
      takers,
      tool: startChild("searchTool.mjs", { args: [root], env: { TAKERS: String(takers) } }),
      times: [],
      rgTimes: [],
    }));
    const rg = startChild("ripgrep.mjs", { args: [root] });
    for (let round = -3; round < rounds; round += 1) {
      for (const { takers, tool, times, rgTimes } of sides) {
        const ours = await tool.ask({ tool: "search_text", args });
        const theirs = await rg.ask({ args: ["-j", String(takers), "-n", regex] });
        if (ours.count !== theirs.count) throw new Error(`${name}: counts ${ours.count} and ${theirs.count}`);
        // The first rounds warm up.
        if (round >= 0) times.push(ours.ms) && rgTimes.push(theirs.ms);
      }
    }
    const [alone, ...more] = sides;
    for (const { takers, times, rgTimes } of more) {
      const gain = spread(alone.times.map((ms, round) => ms / times[round])).median;
      const rgGain = spread(alone.rgTimes.map((ms, round) => ms / rgTimes[round])).median;
      const note = `${gain.toFixed(2)} times as fast as one, rg -j ${rgGain.toFixed(2)}; ${processors} processors`;
      const goal = takers <= processors ? 1 / leastGain : undefined;
      report({
        name: `search_text, ${name}, ${takers} takers, gain of rg to ours`,
        value: rgGain / gain,
        unit: "times",
        goal,
        note,
      });
    }
    for (const { tool } of sides) tool.end();
    rg.end();
  }
}
