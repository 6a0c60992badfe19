import { existsSync } from "node:fs";
import { clip, withoutControls } from "@toolcrib/core/text";
import {
  comparePackages,
  type FindPackage,
  findProject,
  fromRegistry,
  fromTarballs,
  type PackageComparison,
} from "@toolcrib/project/contracts";
import { usageError } from "../exitReasons.ts";
import type { Check, DoctorFlags, Finding } from "./check.ts";

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
  const data = await comparePackages(project, find, signal);
  const notes = [
    ...("message" in ranges ? [`the ranges are not known: ${ranges.message}`] : []),
    ...leftOut.map((why) => `left out: ${why}`),
  ].map((text): Finding => ({ level: "note", text: shown(text) }));
  return {
    findings: [...notes, ...data.flatMap((comparison) => findingsOf(comparison, "message" in ranges))],
    data,
  };
};

function sourceOf(
  { to, tarballs }: DoctorFlags,
  folder: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): { readonly find: FindPackage; readonly leftOut?: readonly string[] } {
  if (tarballs !== undefined && to !== undefined)
    throw usageError("--to is what npm has and --tarballs is what is here; leave one of the two out");
  const flag = tarballs === undefined ? "--to" : "--tarballs:";
  if (tarballs !== undefined && !existsSync(tarballs))
    throw usageError(`--tarballs: there is no ${tarballs}; npm pack writes them`);
  try {
    return tarballs === undefined
      ? { find: fromRegistry(folder, to ?? "latest", env, signal) }
      : fromTarballs(tarballs);
  } catch (error) {
    throw usageError(`${flag} ${(error as Error).message}`);
  }
}

/** What a package says must not pass for a line of ours. */
const shown = (text: string): string => clip(withoutControls(text.replace(/\s+/g, " ")), 1000);

const marks = { breaking: "breaking", addition: "new", wording: "words" } as const;

function findingsOf(comparison: PackageComparison, hasUnknownRanges: boolean): Finding[] {
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

function adviceFor(comparison: PackageComparison, hasUnknownRanges: boolean): string {
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
