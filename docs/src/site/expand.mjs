// Replaces `<!-- NAME: WORDS -->` alone on a line by what is generated: nothing that code knows is written by hand.
import { argumentsTable, costsTable, dataType, toolsTable } from "./argumentsTable.mjs";
import { benchmarkChart, measuredTable } from "./benchmarkChart.mjs";
import { modelsTable } from "./modelsTable.mjs";
import { readSection } from "./sources.mjs";

const generators = {
  /** `<!-- arguments: read_file -->`: the arguments of a tool, from its schema. */
  arguments: argumentsTable,
  /** `<!-- data: read_file -->`: the data beside its text, from its `outputSchema`. */
  data: dataType,
  /** `<!-- tools: all -->`: every tool, with a link to its page. */
  tools: toolsTable,
  /** `<!-- costs: all -->`: the estimated tokens of each tool's schema. */
  costs: costsTable,
  /** `<!-- measured: policy, a decision -->`: the rows of bench/RESULTS.md whose names hold one of these, as a table. */
  measured: measuredTable,
  /** `<!-- models: anthropic -->`: what its models take and cost, from the agent's table. */
  models: modelsTable,
  /** `<!-- section: SECURITY.md / What is promised, and tested -->`: part of a file of the repository. */
  section: (words) => readSection(...words.split(" / ")),
  /** `<!-- benchmark: LABEL = ROW | LABEL = ROW -->`: rows of bench/RESULTS.md that compare with another program, as bars. */
  benchmark: benchmarkChart,
  /** `<!-- replies: JSON -->`: what the service answers in the test of the program below; nothing on the page. */
  replies: () => "",
};

export async function expand(text) {
  const parts = text.split(/^<!-- ([a-z]+): (.+) -->$/m);
  for (let at = 1; at < parts.length; at += 3) {
    const generate = generators[parts[at]];
    if (generate === undefined) throw new Error(`docs: nothing generates "${parts[at]}"`);
    parts[at] = await generate(parts[at + 1]);
    parts[at + 1] = "";
  }
  return parts.join("");
}
