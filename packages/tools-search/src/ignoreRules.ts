/** The compiled lines of one .gitignore. */
export interface IgnoreRules {
  /**
   * Whether the entry called `name` is ignored (true), taken back in by `!` (false) or not mentioned (undefined).
   * `path.slice(from)` is its path relative to the folder of the .gitignore, with `/`.
   */
  decide(name: string, path: string, from: number, isDirectory: boolean): boolean | undefined;
}

interface Rule {
  order: number;
  ignores: boolean;
  directoryOnly: boolean;
}

type SuffixRule = Rule & { suffix: string };
type PatternRule = Rule & { pattern: RegExp; wholePath: boolean };

/** Compiles the text of a .gitignore as git reads it; undefined where it holds no rule. */
export function compileIgnoreRules(text: string): IgnoreRules | undefined {
  // Most rules are plain names or `*.suffix`: those need no regular expression.
  const names = new Map<string, Rule[]>();
  const suffixes: SuffixRule[] = [];
  const patterns: PatternRule[] = [];
  let order = 0;
  for (const line of text.replace(/^\ufeff/, "").split("\n")) {
    const parsed = parseLine(line.endsWith("\r") ? line.slice(0, -1) : line);
    if (parsed === undefined) continue;
    const { glob, anchored, ...flags } = parsed;
    const rule: Rule = { order, ...flags };
    order += 1;
    if (!anchored && !/[*?[\\]/.test(glob)) {
      names.set(glob, [...(names.get(glob) ?? []), rule]);
    } else if (!anchored && /^\*[^*?[\\]+$/.test(glob)) {
      suffixes.push({ ...rule, suffix: glob.slice(1) });
    } else {
      const pattern = globToRegExp(asBytes(glob), anchored);
      if (pattern !== undefined) patterns.push({ ...rule, pattern, wholePath: anchored });
    }
  }
  if (order === 0) return undefined;
  suffixes.reverse();
  patterns.reverse();

  return {
    decide(name, path, from, isDirectory) {
      let last: Rule | undefined;
      const named = names.get(name);
      if (named !== undefined) for (const rule of named) if (isDirectory || !rule.directoryOnly) last = rule;
      for (const rule of suffixes) {
        if (last !== undefined && rule.order < last.order) break;
        if ((isDirectory || !rule.directoryOnly) && name.endsWith(rule.suffix)) {
          last = rule;
          break;
        }
      }
      for (const rule of patterns) {
        if (last !== undefined && rule.order < last.order) break;
        if (rule.directoryOnly && !isDirectory) continue;
        if (rule.pattern.test(asBytes(rule.wholePath ? path.slice(from) : name))) {
          last = rule;
          break;
        }
      }
      return last?.ignores;
    },
  };
}

/** One character for each byte of UTF-8: to git, `?` and a class stand for one byte. */
function asBytes(text: string): string {
  return /[^\u0000-\u007f]/.test(text) ? Buffer.from(text).toString("latin1") : text;
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

/** Undefined for a pattern that git takes for broken: it matches nothing. */
function globToRegExp(glob: string, anchored: boolean): RegExp | undefined {
  let source = "";
  let at = 0;
  while (at < glob.length) {
    const char = glob[at] as string;
    if (char === "*") {
      const stars = /^\*+/.exec(glob.slice(at))?.[0].length ?? 1;
      const opens = at === 0 || glob[at - 1] === "/";
      const next = glob[at + stars];
      if (anchored && stars === 2 && opens && next === "/") {
        source += "(?:.*/)?";
        at += 3;
      } else {
        source += anchored && stars === 2 && opens && next === undefined ? (at === 0 ? ".*" : ".+") : "[^/]*";
        at += stars;
      }
    } else if (char === "?") {
      source += "[^/]";
      at += 1;
    } else if (char === "[") {
      const parsed = parseClass(glob, at);
      if (parsed === undefined) return undefined;
      source += parsed.source;
      at = parsed.end;
    } else {
      const literal = char === "\\" ? glob[at + 1] : char;
      if (literal === undefined) return undefined;
      source += escapeForRegExp(literal);
      at += char === "\\" ? 2 : 1;
    }
  }
  try {
    return new RegExp(`^${source}$`, "s");
  } catch {
    return undefined;
  }
}

const posixClasses: Readonly<Record<string, string>> = {
  alnum: "a-zA-Z0-9",
  alpha: "a-zA-Z",
  blank: " \\t",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "\\x21-\\x7e",
  lower: "a-z",
  print: "\\x20-\\x7e",
  punct: "\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e",
  space: "\\s",
  upper: "A-Z",
  xdigit: "0-9a-fA-F",
};

function parseClass(glob: string, start: number): { source: string; end: number } | undefined {
  let at = start + 1;
  const negated = glob[at] === "!" || glob[at] === "^";
  if (negated) at += 1;
  let body = "";
  const first = at;
  while (at < glob.length && (glob[at] !== "]" || at === first)) {
    const posix = /^\[:([a-z]*):\]/.exec(glob.slice(at, at + 12));
    if (posix) {
      const known = posixClasses[posix[1] as string];
      if (known === undefined) return undefined;
      body += known;
      at += posix[0].length;
      continue;
    }
    const from = classCharacter(glob, at);
    if (from === undefined) return undefined;
    at = from.end;
    if (glob[at] === "-" && glob[at + 1] !== "]" && glob[at + 1] !== undefined) {
      const to = classCharacter(glob, at + 1);
      if (to === undefined) return undefined;
      at = to.end;
      // A backward range matches nothing, as in git.
      if (from.char <= to.char) body += `${escapeForRegExp(from.char)}-${escapeForRegExp(to.char)}`;
    } else {
      body += escapeForRegExp(from.char);
    }
  }
  if (glob[at] !== "]") return undefined;
  // A class never matches the separator.
  return { source: `(?!/)[${negated ? "^" : ""}${body}]`, end: at + 1 };
}

function classCharacter(glob: string, at: number): { char: string; end: number } | undefined {
  const escaped = glob[at] === "\\";
  const char = glob[escaped ? at + 1 : at];
  return char === undefined ? undefined : { char, end: at + (escaped ? 2 : 1) };
}

/** Safe inside and outside a character class. */
function escapeForRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
