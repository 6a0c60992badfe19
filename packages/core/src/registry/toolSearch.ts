import { defineTool } from "../defineTool.ts";
import type { AnyToolRegistry, ExecutableTool, ToolListing } from "../interface.ts";
import { withNotice } from "../text/cut.ts";
import { oneLine } from "../text/printable.ts";
import { toolOutput } from "./outcome.ts";
import { isForProgramsAlone } from "./registration.ts";

const defaultLimit = 5;
const mostFound = 20;
const longestQuery = 500;
const mostWords = 20;
/** A longer description is searched and shown only so far. */
const searchedLength = 2000;
const shownLength = 200;

const parameters = {
  type: "object",
  properties: {
    query: { type: "string", minLength: 1, maxLength: longestQuery, description: "Words of a name or description." },
    limit: {
      type: "integer",
      minimum: 1,
      maximum: mostFound,
      description: `Most tools to find, default ${defaultLimit}.`,
    },
  },
  required: ["query"],
  additionalProperties: false,
} as const;

const outputSchema = {
  type: "object",
  properties: { tools: { type: "array", items: { type: "string" } }, total: { type: "integer" } },
  required: ["tools", "total"],
  additionalProperties: false,
} as const;

/**
 * Creates the tool `search_tools`: finds the enabled tools of `registry` that are `deferred` by words of their name and description, best
 * first. Its `data` is `{ tools, total }`: the names found, and how many fit in all. Register it yourself, in that registry.
 */
export function createToolSearch(registry: Pick<AnyToolRegistry, "listTools">): ExecutableTool {
  const tool = defineTool({
    name: "search_tools",
    description:
      "Finds more tools than are listed, by words of their names and descriptions. What is found can be called from then on.",
    parameters,
    outputSchema,
    defaults: { limit: defaultLimit },
    readOnly: true,
    idempotent: true,
    effects: () => [],
    execute({ query, limit = defaultLimit }) {
      const deferred = registry.listTools().filter((listing) => {
        return listing.enabled && listing.deferred === true && !isForProgramsAlone(listing);
      });
      const fitting = rankTools(deferred, query);
      const found = fitting.slice(0, limit);
      const data = { tools: found.map(({ name }) => name), total: fitting.length };
      if (found.length === 0)
        return toolOutput(`No matches for ${JSON.stringify(query)} among ${deferred.length} tools`, { data });
      const lines = found.map(({ name, description }) => `${name}: ${oneLine(description, shownLength)}`).join("\n");
      if (found.length === fitting.length) return toolOutput(lines, { data });
      const next = limit < mostFound ? { argument: "limit", value: Math.min(fitting.length, mostFound) } : undefined;
      return toolOutput(withNotice(lines, { shown: found.length, total: fitting.length, unit: "tools", next }), {
        data,
      });
    },
  });
  return { ...tool, origin: "core" };
}

/** Returns those that any word fits, the best first; equal ones in their order. A word that few tools have counts more. */
export function rankTools<Listing extends Pick<ToolListing, "name" | "description">>(
  listings: readonly Listing[],
  query: string,
): Listing[] {
  const words = [...new Set(wordsOf(query))].slice(0, mostWords);
  const texts = listings.map(({ name, description }) => ({
    name: ` ${wordsOf(name).join(" ")} `,
    description: ` ${wordsOf(description.slice(0, searchedLength)).join(" ")} `,
  }));
  const scores = listings.map(() => 0);
  for (const word of words) {
    const fits = texts.map(({ name, description }) => 3 * fit(word, name) + fit(word, description));
    const weight = Math.log(1 + listings.length / Math.max(1, fits.filter((one) => one > 0).length));
    fits.forEach((one, at) => {
      scores[at] = (scores[at] ?? 0) + one * weight;
    });
  }
  return listings
    .map((listing, at) => ({ listing, score: scores[at] ?? 0 }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ listing }) => listing);
}

/** Returns how well a word fits words: one of them is the same, begins like it (`issue`, `issues`), or holds it. */
function fit(word: string, words: string): number {
  if (words.includes(` ${word} `)) return 1;
  const stem = word.length > 3 ? word.replace(/e?s$/, "") : word;
  if (words.includes(` ${stem}`)) return 0.6;
  return words.includes(stem) ? 0.3 : 0;
}

/** Splits a name into words in lower case; `readFile`, `read_file` and `read file` have the same. */
function wordsOf(text: string): string[] {
  const parted = text.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2").toLowerCase();
  return parted.match(/[\p{L}\p{N}]+/gu) ?? [];
}
