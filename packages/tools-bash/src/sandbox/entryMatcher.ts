import { compileDenyRules, type DeniedPaths, type DenyRules } from "@toolcrib/kit/files";
import { type BytePath, toText } from "./bytePath.ts";

/** Most names whose answer is kept during a walk. */
const mostKnownNames = 50_000;

/** Tests the entries of a tree against patterns; `isDirectory` is undefined for a link. */
export class EntryMatcher {
  readonly hasNames: boolean;
  /** The patterns that start from a place. */
  readonly placedPatterns: readonly string[];
  readonly #names: DeniedPaths;
  readonly #placed: DeniedPaths;
  readonly #knownNames = new Map<string, boolean>();

  constructor({ patterns, roots }: DenyRules) {
    // A name at any depth is matched by itself, which is cheaper than by the whole path.
    const names = patterns.filter(isName);
    this.placedPatterns = patterns.filter((pattern) => !isName(pattern));
    this.hasNames = names.length > 0;
    this.#names = compileDenyRules({ patterns: names, roots });
    this.#placed = compileDenyRules({ patterns: this.placedPatterns, roots });
  }

  mayMatchBelow(directory: BytePath): boolean {
    return this.#placed.mayMatchBelow(toText(directory));
  }

  matchesPath(path: BytePath, isDirectory?: boolean): boolean {
    return this.#placed.match(toText(path), isDirectory) !== undefined;
  }

  /** Matches a name, and remembers the answer: most directories of a tree hold an `index.js`. */
  matchesName(name: BytePath, isDirectory: boolean | undefined): boolean {
    const key = `${isDirectory === false ? "" : "/"}${name}`;
    const known = this.#knownNames.get(key);
    if (known !== undefined) return known;
    const matches = this.#names.match(`/${toText(name)}`, isDirectory) !== undefined;
    if (this.#knownNames.size < mostKnownNames) this.#knownNames.set(key, matches);
    return matches;
  }
}

/** Returns whether a pattern has no place, and so matches at any depth. */
function isName(pattern: string): boolean {
  return !pattern.slice(0, -1).includes("/") && !["/", "~", "."].includes(pattern);
}
