import { readFileSync } from "node:fs";
import { readExamples } from "@toolcrib/testing/examples";

const page = new URL("../docs/src/content/docs/guides/scripting.md", import.meta.url);

/** The workflow for GitHub that the documentation shows. */
export const shownWorkflow: string =
  readExamples(readFileSync(page, "utf8")).find(({ title }) => title?.endsWith("review.yml"))?.code ?? "";

/** The commands of a step, as the shell gets them. */
export function commandsOf(name: string): string {
  const step = shownWorkflow.split(/^(?= {6}- )/m).find((text) => text.includes(`- name: ${name}\n`)) ?? "";
  const run = step.split(/^ {8}run: (?:\|\n)?/m)[1] ?? "";
  return run.replace(/^ {10}/gm, "").trimEnd();
}
