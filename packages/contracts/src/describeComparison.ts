import { oneLine } from "@toolcrib/core/internal";
import { clip, withoutControls } from "@toolcrib/core/text";
import type { PackageComparison } from "./comparePackages.ts";

/** Prints a package's text so that it cannot pass for a line of ours. */
const shown = (text: string): string => clip(withoutControls(oneLine(text)), 1000);

const marks = { breaking: "breaking", addition: "new", wording: "words" } as const;

/** The result of a comparison. Only a `problem` needs an answer. */
export interface ComparisonReport {
  readonly level: "ok" | "note" | "problem";
  /** A line for the package, and one for each change. */
  readonly text: string;
  /** Advice on how to install the other version. */
  readonly advice?: string | undefined;
}

/** Words a comparison for people. `knowsRanges` is false if the `package.json` of the project cannot be read. */
export function describeComparison(comparison: PackageComparison, knowsRanges = true): ComparisonReport {
  const { package: name, installed, available, tokens, changes = [], problem } = comparison;
  const isNewest = installed !== undefined && installed === available;
  const head = [name, installed, ...(isNewest || available === undefined ? [] : ["->", available])]
    .filter(Boolean)
    .join(" ");
  if (problem) return { level: "problem", text: shown(`${head}: ${problem}`) };
  if (isNewest && changes.length === 0) return { level: "ok", text: head };
  const lines = changes.map(({ severity, message }) => `${marks[severity]}: ${message}`);
  if (tokens && tokens.before !== tokens.after) {
    lines.push(`tokens of each request with all its tools, estimated: ${tokens.before} before, ${tokens.after} after`);
  }
  if (tokens && changes.length === 0) lines.push("the same tools");
  return { level: "note", text: [head, ...lines].map(shown).join("\n"), advice: adviceFor(comparison, knowsRanges) };
}

function adviceFor(comparison: PackageComparison, knowsRanges: boolean): string {
  const { package: name, range, available, rangeTakesIt, changes = [] } = comparison;
  const breaks = changes.some(({ severity }) => severity === "breaking");
  const first = breaks ? "after you have dealt with the breaking changes: " : "";
  if (!knowsRanges) return "correct package.json and run this again";
  if (range === undefined) return "another package depends on it: update that one";
  const taken = rangeTakesIt
    ? "which accepts it"
    : rangeTakesIt === false
      ? "which does not accept it"
      : "a range for npm to read";
  return `${first}package.json has ${shown(range)}, ${taken}: npm install ${name}@${available}`;
}
