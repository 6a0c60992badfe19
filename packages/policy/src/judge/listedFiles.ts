import { readFileSync, statSync } from "node:fs";
import { isOnOtherShare } from "@toolcrib/kit/files";

/** Of a few thousand files. */
const longestList = 200_000;

/** A line as md5sum and its like write it: the sum and the name, or the name in parentheses. */
const sum = /^[0-9a-f]{8,} [ *](.+)$/i;
const tagged = /^[A-Z0-9-]+ \((.+)\) = [0-9a-f]{8,}$/i;

/** Lists the files that a list of sums names, which the program then opens; undefined if the list says more than names and sums. */
export function listedFiles(list: string, directory: string): readonly string[] | undefined {
  if (isOnOtherShare(list, [directory])) return undefined;
  try {
    const stats = statSync(list, { throwIfNoEntry: false });
    if (stats === undefined) return [];
    if (!stats.isFile() || stats.size > longestList) return undefined;
    const lines = readFileSync(list, "utf8").split("\n");
    if (lines.at(-1) === "") lines.pop();
    const names = lines.map((one) => (sum.exec(one) ?? tagged.exec(one))?.[1]);
    return names.every((name) => name !== undefined) ? names : undefined;
  } catch {
    return undefined;
  }
}
