import { existsSync } from "node:fs";
import { type ContractChange, compareManifests } from "@toolcrib/core/contracts";
import { clip, withoutControls } from "@toolcrib/core/text";
import { usageError } from "../exitReasons.ts";
import { type FindPackage, fromRegistry, fromTarballs } from "./available.ts";
import type { Check, DoctorFlags, Finding } from "./check.ts";
import { findProject, type PackageVersion, rangeTakes } from "./installed.ts";

/** One package, for `--json`: where `problem` is there, the rest is what is known nonetheless. */
interface Comparison {
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

/** Compares what a project has installed with what it could have: tools, arguments, words, tokens. */
export const checkContracts: Check = async (flags, { env }, signal) => {
  const project = findProject(process.cwd());
  if (!project) {
    const text =
      "No package of toolcrib is installed here: there is no node_modules/@toolcrib in this directory or above.";
    return { findings: [{ level: "problem", text, advice: "go to your project, or run npm install there" }], data: [] };
  }
  const { find, leftOut = [] } = sourceOf(flags, project.folder, env, signal);
  const { ranges } = project;
  const compared = [...project.packages].map(async ([name, installed]): Promise<Comparison> => {
    const range = ranges instanceof Error ? undefined : ranges.get(name);
    const known = { package: name, ...(range !== undefined && { range }) };
    if (installed instanceof Error) {
      return {
        ...known,
        problem: `node_modules/${name} is not whole: ${installed.message}. Install again: npm install`,
      };
    }
    try {
      return { ...known, ...compare(installed, await find(name), range) };
    } catch (error) {
      signal.throwIfAborted();
      return {
        ...known,
        installed: installed.version,
        problem: `nothing to compare with: ${(error as Error).message}`,
      };
    }
  });
  const data = await Promise.all(compared);
  const notes = [
    ...(ranges instanceof Error ? [`the ranges are not known: ${ranges.message}`] : []),
    ...leftOut.map((why) => `left out: ${why}`),
  ].map((text): Finding => ({ level: "note", text: shown(text) }));
  return {
    findings: [...notes, ...data.flatMap((comparison) => findingsOf(comparison, ranges instanceof Error))],
    data,
  };
};

function sourceOf(
  { to = "latest", tarballs }: DoctorFlags,
  folder: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): { readonly find: FindPackage; readonly leftOut?: readonly string[] } {
  // npm would pack what is here for a path and for what ends in one of these, as npm matches them.
  if (!/^\w[\w.+-]*$/.test(to) || /\.(?:tgz|tar|tar.gz)$/i.test(to))
    throw usageError("--to takes a version or a tag, such as 0.2.0 or latest");
  if (tarballs === undefined) return { find: fromRegistry(folder, to, env, signal) };
  if (!existsSync(tarballs)) throw usageError(`--tarballs: there is no ${tarballs}; npm pack writes them`);
  try {
    return fromTarballs(tarballs);
  } catch (error) {
    throw usageError(`--tarballs: ${(error as Error).message}`);
  }
}

function compare(
  installed: PackageVersion,
  available: PackageVersion,
  range: string | undefined,
): Omit<Comparison, "package"> {
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

/** What a package says must not pass for a line of ours. */
const shown = (text: string): string => clip(withoutControls(text.replace(/\s+/g, " ")), 1000);

const marks = { breaking: "breaking", addition: "new", wording: "words" } as const;

function findingsOf(comparison: Comparison, hasUnknownRanges: boolean): Finding[] {
  const { package: name, installed, available, tokens, changes = [], problem } = comparison;
  const isNewest = installed !== undefined && installed === available;
  const head = [name, installed, ...(isNewest || available === undefined ? [] : ["->", available])]
    .filter(Boolean)
    .join(" ");
  if (problem) return [{ level: "problem", text: shown(`${head}: ${problem}`) }];
  if (isNewest && changes.length === 0) return [{ level: "ok", text: head }];
  const lines = changes.map(({ severity, message }) => `${marks[severity]}: ${message}`);
  if (tokens && tokens.before !== tokens.after) {
    lines.push(`tokens of each request with all its tools, estimated: ${tokens.before} before, ${tokens.after} after`);
  }
  if (tokens && changes.length === 0) lines.push("the same tools");
  return [
    { level: "note", text: [head, ...lines].map(shown).join("\n"), advice: adviceFor(comparison, hasUnknownRanges) },
  ];
}

function adviceFor(comparison: Comparison, hasUnknownRanges: boolean): string {
  const { package: name, range, available, rangeTakesIt, changes = [] } = comparison;
  const breaks = changes.some(({ severity }) => severity === "breaking");
  const first = breaks ? "after what is breaking is dealt with: " : "";
  if (hasUnknownRanges) return "mend package.json and look again";
  if (range === undefined) return "another package brings it: update that one";
  const taken = rangeTakesIt
    ? "which takes it"
    : rangeTakesIt === false
      ? "which does not take it"
      : "a range for npm to read";
  return `${first}package.json has ${shown(range)}, ${taken}: npm install ${name}@${available}`;
}
