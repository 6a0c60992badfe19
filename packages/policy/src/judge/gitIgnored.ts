import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { compilePathPatterns, isInside, type PathPatterns } from "@toolcrib/kit/files";
import { linkStatsOf } from "./folders.ts";

/** Holds the patterns of a `.gitignore`: those it names, and those it takes out again. */
interface IgnoreFile {
  readonly ignored: Pick<PathPatterns, "match">;
  readonly kept: Pick<PathPatterns, "match">;
}

/** A list that may take anything out again. */
const unsure: IgnoreFile = { ignored: { match: () => undefined }, kept: { match: () => "*" } };

/** Matches a name in a pattern; `.` is one to git, and the folder to our patterns. */
const name = String.raw`(?!\.{1,2}(?:/|$))[\w.*-]+`;
/** Matches the lines that git reads as we do. */
const plain = new RegExp(`^!?/?${name}(?:/${name})*/?$`);
const largestFile = 100_000;

/**
 * Returns a function that tells whether git leaves out a path of a repository: it is ignored, or git's own folder. False if that is not
 * sure. Only the lists in folders of the repository are read.
 */
export function ignoredIn(top: string): (path: string, isDirectory: boolean) => boolean {
  const ownFolder = join(top, ".git");
  const known = new Map<string, IgnoreFile | undefined>();
  const fileIn = (folder: string): IgnoreFile | undefined => {
    if (!known.has(folder)) known.set(folder, readIgnoreFile(folder));
    return known.get(folder);
  };
  return (path, isDirectory) => {
    if (path === ownFolder) return true;
    let isIgnored = false;
    for (let at = dirname(path); isInside(top, at); at = dirname(at)) {
      const file = fileIn(at);
      if (file !== undefined) {
        if (file.kept.match(path, isDirectory) !== undefined) return false;
        isIgnored ||= file.ignored.match(path, isDirectory) !== undefined;
      }
      if (at === dirname(at)) break;
    }
    return isIgnored;
  };
}

function readIgnoreFile(folder: string): IgnoreFile | undefined {
  const file = join(folder, ".gitignore");
  const stats = linkStatsOf(file);
  if (stats === undefined) return undefined;
  const compile = (lines: readonly string[], ignoreCase: boolean): PathPatterns =>
    compilePathPatterns(
      lines.map((line) => line.replace(/^\//, "./")),
      { roots: [folder], ignoreCase },
    );
  try {
    const text = stats.isFile() && stats.size <= largestFile ? readFileSync(file, "utf8") : "![unread]";
    const lines = text.split("\n");
    const kept = lines.filter((line) => line.startsWith("!"));
    if (!kept.every((line) => plain.test(line))) return unsure;
    return {
      ignored: compile(
        lines.filter((line) => plain.test(line) && !line.startsWith("!")),
        false,
      ),
      kept: compile(
        kept.map((line) => line.slice(1)),
        true,
      ),
    };
  } catch {
    return unsure;
  }
}
