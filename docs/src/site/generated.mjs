// What code knows stands in the Markdown of the pages, so that it can be read without the site: the lines between `<!-- NAME: WORDS -->`
// and `<!-- end -->` are written by `docs/generate.mjs`, and a test fails where they are out of date.
import { argumentsTable, costsTable, dataType, toolsTable } from "./argumentsTable.mjs";
import { benchmarkChart, benchmarkTable, measuredTable } from "./benchmarks.mjs";
import { commandsTable } from "./commandsTable.mjs";
import { modelsTable } from "./modelsTable.mjs";

const generators = {
  /** `<!-- arguments: read_file -->`: the arguments of a tool, from its schema. */
  arguments: argumentsTable,
  /** `<!-- data: read_file -->`: the data beside its text, from its `outputSchema`. */
  data: dataType,
  /** `<!-- tools: all -->`: every tool, with a link to its page. */
  tools: toolsTable,
  /** `<!-- costs: all -->`: the estimated tokens of each tool's schema. */
  costs: costsTable,
  /** `<!-- commands: all -->`: every command with its flags, from the tables that it parses with. */
  commands: commandsTable,
  /** `<!-- measured: policy, a decision -->`: the rows of bench/RESULTS.md whose names hold one of these, as a table. */
  measured: measuredTable,
  /** `<!-- models: anthropic -->`: what its models take and cost, from the agent's table. */
  models: modelsTable,
  /** `<!-- benchmark: LABEL = ROW | LABEL = ROW -->`: rows of bench/RESULTS.md that compare with another program. The site shows bars. */
  benchmark: benchmarkTable,
};

const parts = /^<!-- ([a-z]+): (.+) -->\n(?:[\s\S]*?^<!-- end -->\n)?/gm;

/** The text of a page with all that is generated as it is now. */
export async function renew(text) {
  const found = [...text.matchAll(parts)].filter(([, name]) => name !== "replies");
  let renewed = text;
  for (const [part, name, words] of found) {
    const generate = generators[name];
    if (generate === undefined) throw new Error(`docs: nothing generates "${name}"`);
    const content = `<!-- ${name}: ${words} -->\n\n${await generate(words)}\n\n<!-- end -->\n`;
    renewed = renewed.replace(part, () => content);
  }
  return renewed;
}

/** Makes the site's form of a page: bars instead of the table of a benchmark, and no comments. */
export function shown(text) {
  return text
    .replace(parts, (part, name, words) => (name === "benchmark" ? `${benchmarkChart(words)}\n` : part))
    .replace(/^<!-- (?:[a-z]+: .+|end) -->\n/gm, "");
}
