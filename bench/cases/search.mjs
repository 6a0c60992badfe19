import { availableParallelism } from "node:os";
import { corpus, queries } from "../corpora.mjs";
import { pair, pairFresh, pairInTurn, spread, startChild } from "../pairs.mjs";

/** The share of ripgrep's time that a search may take, by corpus. */
const goals = {
  firstExpression: { small: 3, medium: 2.5, large: 2.5 },
  first: { small: 3.5, medium: 2.5, large: 2.5 },
  literals: { small: 0.5, medium: 0.45, large: 0.55 },
  expressions: { small: 0.6, medium: 0.8, large: 1 },
  files: { small: 0.35, medium: 0.5, large: 0.8 },
};
const everything = 100_000_000;
/** The goals are for four or more. */
const processors = `${availableParallelism()} processors`;

const text = (query, rest) => ({
  tool: "search_text",
  args: { query, paths: ["."], max_results: everything, ...rest },
});
const literally = (query) => ({ messageA: text(query), messageB: { args: ["-n", "-F", query] } });

/** search_text against ripgrep: as the first search of a process, in one that knows another tree, and in one that knows this tree. */
export async function search(report, { corpora, rounds, quick }) {
  for (const name of corpora) {
    const root = corpus(name);
    if (!root) continue;
    const { literal, common, regex, others } = queries[name];
    const asRegex = { messageA: text(regex, { regex: true }), messageB: { args: ["-n", regex] } };
    const rg = startChild("ripgrep.mjs", { args: [root] });
    const start = () => startChild("searchTool.mjs", { args: [root] });
    const add = (label, goal, result, sameCount = true) =>
      report({ name: `search_text, ${name}, ${label}, to rg`, goal, note: processors, ...result, sameCount });

    add(
      "first search of a process, literal",
      goals.first[name],
      await pairFresh(start, rg, { rounds, ...literally(literal) }),
    );
    if (!quick)
      add(
        "first search of a process, regex",
        goals.firstExpression[name],
        await pairFresh(start, rg, { rounds, ...asRegex }),
      );
    const elsewhere = otherTree(name);
    const prepare = async (child) => {
      for (let time = 0; time < 3; time += 1) await child.ask({ ...text("return"), cwd: elsewhere });
      await child.ask({ ...text(regex, { regex: true }), cwd: elsewhere });
    };
    const warm = { rounds, prepare };
    add("new tree, literal", undefined, await pairFresh(start, rg, { ...warm, ...literally(literal) }));
    add("new tree, regex", undefined, await pairFresh(start, rg, { ...warm, ...asRegex }));

    const tool = start();
    await tool.ask(text(literal));
    const again = await pairInTurn(tool, rg, others.map(literally), Math.max(rounds, others.length));
    add("same tree, other literals", goals.literals[name], again);
    if (!quick) add("same tree, regex", goals.expressions[name], await pair(tool, rg, { rounds, ...asRegex }));
    add("same tree, a word on every tenth line", undefined, await pair(tool, rg, { rounds, ...literally(common) }));
    const few = { messageA: text(common, { max_results: 100 }), messageB: literally(common).messageB };
    add("first 100 of a common word", 0.2, await pair(tool, rg, { rounds, ...few }), false);
    rg.end();
    tool.end();
    await block(report, name, root, [literal, common, ...others], quick ? 10 : 50);
  }
}

/** Fresh processes for each query of the row below. */
const firstRounds = 20;

/** The first search of a process from before its import of the package, over the three literals and three expressions of a corpus. */
export async function firstSearch(report, { corpora }) {
  for (const name of corpora) {
    const root = corpus(name);
    if (!root) continue;
    const rg = startChild("ripgrep.mjs", { args: [root] });
    const start = () => startChild("firstSearch.mjs", { args: [root] });
    const { literals, expressions } = queries[name].first;
    const messages = [
      ...literals.map(literally),
      ...expressions.map((query) => ({ messageA: text(query, { regex: true }), messageB: { args: ["-n", query] } })),
    ];
    const results = [];
    for (const message of messages) results.push(await pairFresh(start, rg, { rounds: firstRounds, ...message }));
    rg.end();
    const wrong = results.find(({ countA, countB }) => countA !== countB) ?? results[0];
    const add = (label, of, goal) =>
      report({
        name: `search_text, ${name}, first search of a process, geometric mean of six, ${label}, to rg`,
        goal,
        ratio: { median: geometricMean(of), min: Math.min(...of), max: Math.max(...of) },
        countA: wrong.countA,
        countB: wrong.countB,
        sameCount: true,
      });
    add(
      "with the import",
      results.map(({ ratio }) => ratio.median),
    );
    add(
      "search alone",
      results.map(({ msB, rounds }) => median(rounds.map(({ a }) => a.searchMs)) / msB.median),
    );
    add(
      "expressions, search alone",
      results.slice(literals.length).map(({ msB, rounds }) => median(rounds.map(({ a }) => a.searchMs)) / msB.median),
      goals.firstExpression[name],
    );
  }
}

const median = (values) => spread(values).median;
const geometricMean = (values) => Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);

/** A tree to warm a process up with. */
function otherTree(name) {
  return corpus(name === "small" ? "medium" : "small");
}

/** The costs of searches to the program they run in: measured in a fresh process, so that memory before and after can be told apart. */
async function block(report, name, root, words, searches) {
  const child = startChild("searchTool.mjs", { args: [root] });
  const before = await child.ask({ ping: true });
  let blockMs = 0;
  let rssMb = 0;
  for (let round = 0; round < searches; round += 1) {
    const answer = await child.ask({ tool: "search_text", args: { query: words[round % words.length], paths: ["."] } });
    blockMs = Math.max(blockMs, answer.blockMs);
    rssMb = Math.max(rssMb, answer.rssMb);
  }
  child.end();
  const row = (label, rest) => report({ name: `search_text, ${name}, ${label}`, ...rest });
  row("longest block of the event loop", { value: blockMs, unit: "ms of processor time", goal: 15 });
  row(`memory after ${searches} searches, above start`, {
    value: rssMb - before.rssMb,
    unit: "MB",
    goal: 120 + 12 * Math.max(0, Math.min(8, availableParallelism()) - 2),
  });
}

export async function searchPeers(report, { corpora, rounds }) {
  for (const name of corpora.filter((corpusName) => corpusName !== "large")) {
    const root = corpus(name);
    if (!root) continue;
    const { literal } = queries[name];
    for (const [file, peer, goal] of [
      ["geminiGrep.mjs", "gemini-cli-core fallback", 1 / 15],
      ["justBash.mjs", "just-bash grep"],
    ]) {
      const tool = startChild("searchTool.mjs", { args: [root] });
      const other = startChild(file, { args: [root] });
      try {
        const messageA = { tool: "search_text", args: { query: literal, paths: ["."], max_results: everything } };
        const result = await pair(tool, other, {
          rounds: Math.min(rounds, 3),
          messageA,
          messageB: { pattern: literal },
        });
        // Peers honour other ignore rules, so their counts are shown, not compared.
        report({
          name: `search_text, ${name}, literal, to ${peer}`,
          goal,
          ...result,
          sameCount: false,
          note: `${result.countA} and ${result.countB} matches`,
        });
      } catch (error) {
        report({ name: `search_text, ${name}, literal, to ${peer}`, missing: error.message.split("\n")[0] });
      } finally {
        tool.end();
        other.end();
      }
    }
  }
}

export async function searchFiles(report, { corpora, rounds }) {
  for (const name of corpora) {
    const root = corpus(name);
    if (!root) continue;
    const { glob } = queries[name];
    const tool = startChild("searchTool.mjs", { args: [root] });
    const rg = startChild("ripgrep.mjs", { args: [root] });
    const messageA = { tool: "search_files", args: { pattern: glob, max_results: everything } };
    report({
      name: `search_files, ${name}, to rg --files`,
      goal: goals.files[name],
      ...(await pair(tool, rg, { rounds, messageA, messageB: { args: ["--files", "-g", glob.replace("**/", "")] } })),
      sameCount: true,
    });
    tool.end();
    rg.end();
  }
}
