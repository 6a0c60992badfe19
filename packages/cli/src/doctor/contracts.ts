import { resolve } from "node:path";
import { comparePackages, describeComparison, findProject, packagesIn } from "@toolcrib/contracts";
import { oneLine } from "@toolcrib/core/internal";
import type { CheckResult, Finding } from "./check.ts";

/** Compares what a project has installed with what `newer` has, another folder: tools, arguments, words, tokens. */
export function checkContracts(cwd: string, newer: string): CheckResult {
  const problem = (text: string, advice: string): CheckResult => ({
    findings: [{ level: "problem", text, advice }],
    data: [],
  });
  const project = findProject(cwd);
  if (!project) {
    const text =
      "No toolcrib package is installed here: there is no node_modules/@toolcrib in this directory or above.";
    return problem(text, "go to your project, or run npm install there");
  }
  const others = packagesIn(resolve(cwd, newer));
  if (others.size === 0) {
    const text = `No toolcrib package is installed in ${oneLine(newer)}: there is no node_modules/@toolcrib in it.`;
    return problem(text, "install the other version there: npm install --ignore-scripts --prefix FOLDER PACKAGE");
  }
  const { ranges } = project;
  const data = comparePackages(project, others);
  const notes = "message" in ranges ? [oneLine(`the ranges are not known: ${ranges.message}`, 1000)] : [];
  return {
    findings: [
      ...notes.map((text): Finding => ({ level: "note", text })),
      ...data.map((comparison) => describeComparison(comparison, !("message" in ranges))),
    ],
    data,
  };
}
