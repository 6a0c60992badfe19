import { execFileSync } from "node:child_process";
import { corpus, queries } from "../corpora.mjs";
import { pair, startChild } from "../pairs.mjs";

const goals = { small: [0.7, 0.7], medium: [0.9, 0.9], large: [1.3, 2.0] };
const everything = 100_000_000;

/** search_text against ripgrep, and against the JavaScript search of peers. */
export async function search(report, { corpora, rounds }) {
  for (const name of corpora) {
    const root = corpus(name);
    if (!root) continue;
    const { literal, common, regex } = queries[name];
    const tool = startChild("searchTool.mjs", { args: [root] });
    const rg = startChild("ripgrep.mjs", { args: [root] });
    const text = (query, rest) => ({
      tool: "search_text",
      args: { query, paths: ["."], max_results: everything, ...rest },
    });
    const compare = async (label, goal, messageA, messageB, sameCount = true) => {
      const result = await pair(tool, rg, { rounds, messageA, messageB });
      const { blockMs, rssMb } = result.last.a;
      report({
        name: `search_text, ${name}, ${label}, to rg`,
        goal,
        ...result,
        sameCount,
        note: `block ${blockMs.toFixed(0)} ms, RSS ${rssMb.toFixed(0)} MB`,
      });
    };
    await compare("literal", goals[name][0], text(literal), { args: ["-n", "-F", literal] });
    await compare("a word on every tenth line", undefined, text(common), { args: ["-n", "-F", common] });
    await compare("regex", goals[name][1], text(regex, { regex: true }), { args: ["-n", regex] });
    await compare(
      "first 100 of a common word",
      0.2,
      text(common, { max_results: 100 }),
      { args: ["-n", "-F", common] },
      false,
    );
    rg.end();
    tool.end();
    await block(report, name, root, common);
  }
}

/** What a search costs the program it runs in: in a fresh process, so that memory before and after can be told apart. */
async function block(report, name, root, query) {
  const child = startChild("searchTool.mjs", { args: [root] });
  const small = {
    tool: "search_text",
    args: { query: "no such text anywhere", paths: ["package.json", "Makefile", ".gitignore"], max_results: 1 },
  };
  const before = await child.ask(small).catch(() => undefined);
  let blockMs = 0;
  let rss = 0;
  for (let round = 0; round < 3; round += 1) {
    const answer = await child.ask({ tool: "search_text", args: { query, paths: ["."] } });
    blockMs = Math.max(blockMs, answer.blockMs);
    rss = Math.max(rss, answer.rssMb);
  }
  child.end();
  report({ name: `search_text, ${name}, longest block of the event loop`, value: blockMs, unit: "ms", goal: 25 });
  if (before) report({ name: `search_text, ${name}, extra memory`, value: rss - before.rssMb, unit: "MB", goal: 120 });
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
  const goal = { small: 0.6, medium: 1.0, large: 1.7 };
  for (const name of corpora) {
    const root = corpus(name);
    if (!root) continue;
    const { glob } = queries[name];
    const tool = startChild("searchTool.mjs", { args: [root] });
    const rg = startChild("ripgrep.mjs", { args: [root] });
    const messageA = { tool: "search_files", args: { pattern: glob, max_results: everything } };
    report({
      name: `search_files, ${name}, to rg --files`,
      goal: goal[name],
      ...(await pair(tool, rg, { rounds, messageA, messageB: { args: ["--files", "-g", glob.replace("**/", "")] } })),
      sameCount: true,
    });
    tool.end();
    rg.end();
  }
}

export function hasRipgrep() {
  try {
    execFileSync("rg", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
