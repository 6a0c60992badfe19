import { readFileSync } from "node:fs";

/** Lines of a corpus that belong together. */
export interface LineGroup {
  /** The reason for which they are listed, or the place where they were seen. */
  readonly title: string;
  /** Settings of the group: the rules under which its lines are judged, say. */
  readonly settings: Readonly<Record<string, readonly string[]>>;
  readonly lines: readonly string[];
}

/**
 * Reads `fixtures/NAME.txt`: `# TITLE` begins a group, `+ KEY VALUE` is one of its settings, and every other line is a case. A case that
 * begins with one of these marks, a quote or a blank, or has a line end or another control character, is written as a JSON string.
 */
export function readCorpus(name: string): LineGroup[] {
  const groups: { title: string; settings: Record<string, string[]>; lines: string[] }[] = [];
  for (const line of readFileSync(new URL(`./fixtures/${name}.txt`, import.meta.url), "utf8").split("\n")) {
    const group = groups.at(-1);
    const [, key, value = ""] = /^\+ (\S+) ?(.*)$/.exec(line) ?? [];
    if (line.startsWith("# ")) groups.push({ title: line.slice(2), settings: {}, lines: [] });
    else if (key !== undefined && group !== undefined) group.settings[key] = [...(group.settings[key] ?? []), value];
    else if (line !== "") group?.lines.push(line.startsWith('"') ? JSON.parse(line) : line);
  }
  return groups;
}

/** All lines of a corpus, or of its groups of one title. */
export function linesOf(name: string, title?: string): string[] {
  const groups = readCorpus(name).filter((group) => title === undefined || group.title === title);
  if (groups.length === 0) throw new Error(`the corpus ${name} has no lines for "${title}"`);
  return groups.flatMap(({ lines }) => lines);
}

/** The rows of a table in `fixtures/NAME.json`. */
export function rowsOf<Row>(name: string, title: string): Row[] {
  const tables = JSON.parse(readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), "utf8"));
  if (tables[title] === undefined) throw new Error(`the tables of ${name} have none for "${title}"`);
  return tables[title];
}
