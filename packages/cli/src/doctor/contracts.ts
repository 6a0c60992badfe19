import { existsSync } from "node:fs";
import { resolve } from "node:path";
import {
  comparePackages,
  describeComparison,
  type FindPackage,
  findProject,
  fromRegistry,
  fromTarballs,
} from "@toolcrib/contracts";
import { oneLine } from "@toolcrib/core/internal";
import { messageOf } from "@toolcrib/core/text";
import { usageError } from "../exitReasons.ts";
import type { Place } from "../program.ts";
import type { Check, ComparedWith, Finding } from "./check.ts";

/** Compares what a project has installed with what it could have: tools, arguments, words, tokens. */
export const checkContracts: Check = async (flags, { env, cwd }, signal) => {
  const project = findProject(cwd);
  if (!project) {
    const text =
      "No toolcrib package is installed here: there is no node_modules/@toolcrib in this directory or above.";
    return { findings: [{ level: "problem", text, advice: "go to your project, or run npm install there" }], data: [] };
  }
  const { find, leftOut = [] } = sourceOf(flags, project.folder, { env, cwd }, signal);
  const { ranges } = project;
  const data = await comparePackages(project, find, signal);
  const notes = [
    ...("message" in ranges ? [`the ranges are not known: ${ranges.message}`] : []),
    ...leftOut.map((why) => `left out: ${why}`),
  ].map((text): Finding => ({ level: "note", text: oneLine(text, 1000) }));
  return {
    findings: [...notes, ...data.map((comparison) => describeComparison(comparison, !("message" in ranges)))],
    data,
  };
};

function sourceOf(
  { to, tarballs }: ComparedWith,
  folder: string,
  { env, cwd }: Place,
  signal: AbortSignal,
): { readonly find: FindPackage; readonly leftOut?: readonly string[] } {
  if (tarballs !== undefined && to !== undefined)
    throw usageError("--to is what npm has and --tarballs is what is here; leave one of the two out");
  const flag = tarballs === undefined ? "--to" : "--tarballs:";
  if (tarballs !== undefined && !existsSync(resolve(cwd, tarballs)))
    throw usageError(`--tarballs: there is no ${tarballs}; npm pack writes them`);
  try {
    return tarballs === undefined
      ? { find: fromRegistry(folder, to ?? "latest", env, signal) }
      : fromTarballs(resolve(cwd, tarballs));
  } catch (error) {
    throw usageError(`${flag} ${messageOf(error)}`);
  }
}
