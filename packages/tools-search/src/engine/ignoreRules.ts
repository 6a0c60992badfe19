import { compileWildmatch, type Glob } from "@toolcrib/kit/files";

/** The compiled lines of one .gitignore. */
export interface IgnoreRules {
  /** The cost of a decision: about 1 for a glob with a star or two. */
  readonly cost: number;
  /**
   * Returns whether the entry called `name` is ignored (true), included again by `!` (false) or not mentioned (undefined). `folder` is where
   * it lies, relative to the folder of the .gitignore: empty, or ending in `/`.
   */
  decide(name: string, folder: string, isDirectory: boolean): boolean | undefined;
}

interface Rule {
  order: number;
  ignores: boolean;
  directoryOnly: boolean;
}

/** A rule without wildcards; `path` is set for one that is bound to the folder of the .gitignore. */
type NameRule = Rule & { path: string | undefined };
type SuffixRule = Rule & { suffix: string };
/** `first` and `last`: what a name that matches begins and ends with, or -1; most names are told from it alone. */
type GlobRule = Rule & { glob(): Glob | undefined; wholePath: boolean; first: number; last: number };

/** Compiles the text of a .gitignore as git reads it; undefined where it holds no rule. */
export function compileIgnoreRules(text: string): IgnoreRules | undefined {
  // Most rules are plain names or `*.suffix`: those need no glob, and are found by the name and by its last character.
  const names = new Map<string, NameRule[]>();
  const suffixes = new Map<string, SuffixRule[]>();
  const globs: GlobRule[] = [];
  let order = 0;
  let cost = 0;
  for (const line of text.replace(/^\ufeff/, "").split("\n")) {
    const parsed = parseLine(line.endsWith("\r") ? line.slice(0, -1) : line);
    if (parsed === undefined) continue;
    const { glob, anchored, ...flags } = parsed;
    const rule: Rule = { order, ...flags };
    order += 1;
    if (!/[*?[\\]/.test(glob)) {
      add(names, glob.slice(glob.lastIndexOf("/") + 1), { ...rule, path: anchored ? glob : undefined });
    } else if (!anchored && /^\*[^*?[\\]+$/.test(glob)) {
      add(suffixes, glob.slice(-1), { ...rule, suffix: glob.slice(1) });
    } else {
      cost += costOf(glob);
      globs.push({ ...rule, glob: compileLater(glob), wholePath: anchored, ...endsOf(glob, anchored) });
    }
  }
  if (order === 0) return undefined;
  globs.reverse();

  return {
    cost: cost + Math.max(0, ...[...suffixes.values()].map((list) => list.length)),
    decide(name, folder, isDirectory) {
      let last: Rule | undefined;
      const consider = (rule: Rule): void => {
        if ((isDirectory || !rule.directoryOnly) && rule.order > (last?.order ?? -1)) last = rule;
      };
      for (const rule of names.get(name) ?? []) {
        const { path } = rule;
        if (path === undefined || (path.length === folder.length + name.length && path.startsWith(folder)))
          consider(rule);
      }
      const end = name.length - 1;
      for (const rule of suffixes.get(name.slice(end)) ?? []) if (name.endsWith(rule.suffix)) consider(rule);
      for (const rule of globs) {
        if (last !== undefined && rule.order < last.order) break;
        if (rule.directoryOnly && !isDirectory) continue;
        if (rule.first !== -1 && name.charCodeAt(0) !== rule.first) continue;
        if (rule.last !== -1 && name.charCodeAt(end) !== rule.last) continue;
        if (rule.glob()?.matches(rule.wholePath ? folder + name : name)) {
          last = rule;
          break;
        }
      }
      return last?.ignores;
    },
  };
}

/** Compiles a glob once it is needed; undefined for one that is no glob. */
function compileLater(glob: string): () => Glob | undefined {
  let compiled: Glob | string | undefined;
  return () => {
    compiled ??= compileWildmatch(glob);
    return typeof compiled === "string" ? undefined : compiled;
  };
}

/** Returns the characters at both ends that a name must have. Of a glob that is bound to a folder only the last is one of the name. */
function endsOf(glob: string, anchored: boolean): { first: number; last: number } {
  const plain = (at: number): number => (/[\w.#~-]/.test(glob.charAt(at)) ? glob.charCodeAt(at) : -1);
  const end = glob.length - 1;
  return { first: anchored ? -1 : plain(0), last: plain(end) };
}

/** Estimates the cost of a glob: every star begins another way to match, and all of them are followed. */
function costOf(glob: string): number {
  const stars = glob.split("*").length - 1;
  return stars <= 2 ? 1 : (stars * glob.length) / 8;
}

function add<Added>(lists: Map<string, Added[]>, key: string, added: Added): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [added]);
  else list.push(added);
}

function parseLine(line: string): (Omit<Rule, "order"> & { glob: string; anchored: boolean }) | undefined {
  if (line.startsWith("#")) return undefined;
  let glob = trimTrailingSpaces(line);
  const ignores = !glob.startsWith("!");
  if (!ignores) glob = glob.slice(1);
  const directoryOnly = glob.endsWith("/");
  if (directoryOnly) glob = glob.slice(0, -1);
  const anchored = glob.includes("/");
  if (glob.startsWith("/")) glob = glob.slice(1);
  return glob === "" ? undefined : { glob, anchored, ignores, directoryOnly };
}

function trimTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " ") end -= 1;
  if (end === line.length) return line;
  let backslashes = 0;
  while (line[end - 1 - backslashes] === "\\") backslashes += 1;
  return line.slice(0, backslashes % 2 === 1 ? end + 1 : end);
}
