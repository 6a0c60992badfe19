import { corpus } from "../corpora.mjs";
import { spread, startChild } from "../pairs.mjs";

/** The time of each phase of a search, in milliseconds (shown, not judged). */
export async function searchPhases(report, { corpora, rounds }) {
  for (const name of corpora) {
    const root = corpus(name);
    if (!root) continue;
    const found = new Map();
    for (let round = 0; round < rounds; round += 1) {
      const child = startChild("searchPhases.mjs", { args: [root] });
      for (const [phase, ms] of Object.entries((await child.ask()).phases)) {
        found.set(phase, [...(found.get(phase) ?? []), ms]);
      }
      child.end();
    }
    for (const [phase, times] of found) {
      const { median, min, max } = spread(times);
      const note = `${min.toFixed(1)} to ${max.toFixed(1)}`;
      report({ name: `search_text, ${name}, phase: ${phase}`, value: median, unit: "ms", note });
    }
  }
}
