import { oneLine } from "@toolcrib/core/internal";
import { clip, withoutControls } from "@toolcrib/core/text";
import { type ContractChange, compareManifests } from "./compareManifests.ts";
import { type PackageVersion, type Project, rangeTakes } from "./installed.ts";

/** One package: where `problem` is there, the rest is what is known nonetheless. */
export interface PackageComparison {
  readonly package: string;
  readonly installed?: string;
  readonly available?: string;
  /** In the project's package.json; absent for a package that another one brought. */
  readonly range?: string;
  /** Absent where the range is none that can be told. */
  readonly rangeTakesIt?: boolean;
  /** Of the schemas of all its tools, estimated. */
  readonly tokens?: { readonly before: number; readonly after: number };
  readonly changes?: readonly ContractChange[];
  readonly problem?: string;
}

/** Compares what a project has installed with packages of another folder: tools, arguments, words, tokens. */
export function comparePackages({ packages, ranges }: Project, others: Project["packages"]): PackageComparison[] {
  return [...packages].map(([name, installed]) => {
    const range = "get" in ranges ? ranges.get(name) : undefined;
    const known = { package: name, ...(range !== undefined && { range }) };
    if (!("version" in installed)) {
      const problem = `node_modules/${name} is incomplete: ${installed.message}. Install again: npm install`;
      return { ...known, problem };
    }
    const other = others.get(name);
    if (other && "version" in other) return { ...known, ...compare(installed, other, range) };
    const why = other ? `there it is incomplete: ${other.message}` : "it is not installed there";
    return { ...known, installed: installed.version, problem: `nothing to compare with: ${why}` };
  });
}

function compare(
  installed: PackageVersion,
  available: PackageVersion,
  range: string | undefined,
): Omit<PackageComparison, "package"> {
  const takes = range === undefined ? undefined : rangeTakes(range, available.version);
  const known = {
    installed: installed.version,
    available: available.version,
    ...(takes !== undefined && { rangeTakesIt: takes }),
  };
  const [before, after] = [installed.tools, available.tools];
  if (!before && !after) return known;
  if (!before || !after) {
    const lacking = before ? available : installed;
    return {
      ...known,
      problem: `${lacking.version} publishes no manifest of its tools, so they cannot be compared; read its CHANGELOG.md`,
    };
  }
  const sum = ({ tools }: typeof before): number => tools.reduce((all, { tokens }) => all + tokens, 0);
  return { ...known, tokens: { before: sum(before), after: sum(after) }, changes: compareManifests(before, after) };
}

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
