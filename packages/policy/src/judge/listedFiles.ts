import { readFileSync, statSync } from "node:fs";

/** Of a few thousand files. */
const longest = 200_000;

/** A line as md5sum and its like write it: the sum and the name, or the name in parentheses. */
const sum = /^[0-9a-f]{8,} [ *](.+)$/i;
const tagged = /^[A-Z0-9-]+ \((.+)\) = [0-9a-f]{8,}$/i;

/** The files that a list of sums names, which the program then opens; undefined if the list says more than names and sums. */
export function listedFiles(list: string | undefined): readonly string[] | undefined {
  if (list === undefined) return undefined;
  try {
    const stats = statSync(list, { throwIfNoEntry: false });
    if (stats === undefined) return [];
    if (!stats.isFile() || stats.size > longest) return undefined;
    const lines = readFileSync(list, "utf8").split("\n");
    if (lines.at(-1) === "") lines.pop();
    const names = lines.map((line) => (sum.exec(line) ?? tagged.exec(line))?.[1]);
    return names.every((name) => name !== undefined) ? names : undefined;
  } catch {
    return undefined;
  }
}
