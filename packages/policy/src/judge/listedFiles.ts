import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { isOnOtherShare } from "@toolcrib/kit/files";
import type { Settings } from "../settings.ts";
import { type Budget, compilePart, type EntryKind, listBelow, pathFrom } from "./folders.ts";
import { type Groups, isLimited } from "./judgeFile.ts";

/*
 * Files that a command takes and that its words do not name.
 */

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

/** Lists the files below folders whose names fit and which must not be touched: a folder itself if there is too much in it to tell. */
export async function namedBelow(
  folders: readonly string[],
  names: readonly string[],
  directory: string,
  groups: Groups,
  settings: Settings,
  budget: Budget,
): Promise<string[]> {
  // Letter case is ignored, as by -iname.
  const fits = names.map((name) => compilePart(name.replaceAll("\\", "").toLowerCase()));
  const hasRules = [...groups.deny, ...groups.ask].length > 0;
  const found: string[] = [];
  for (const folder of folders) {
    const isMeant = (path: string, entry: EntryKind): boolean =>
      fits.some((matches) => matches(basename(path).toLowerCase())) && isLimited(path, entry, groups, settings);
    const { paths, complete } = await listBelow(pathFrom(directory, folder), isMeant, budget);
    found.push(...paths, ...(complete || !hasRules ? [] : [folder]));
  }
  return found;
}
