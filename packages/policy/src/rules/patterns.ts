import { basename } from "node:path";

/** A pattern of simple commands. */
export interface CommandPattern {
  readonly words: readonly string[];
  /** True if it ends in `*`: any further words, or none. */
  readonly open: boolean;
}

/**
 * Parses a pattern of commands: `git status` is exactly these words, `npm test *` these with any further words. Quotes hold a word together.
 * A text answers why the pattern is malformed.
 */
export function parseCommandPattern(pattern: string): CommandPattern | string {
  const words: string[] = [];
  let open = false;
  const token = /\s*(?:((?:'[^']*'|"[^"$`\\]*"|[^\s'"\\;&|<>()$`*?[\]{}])+|\*|[[\]?{}]+)(?=\s|$))/y;
  let at = 0;
  const end = pattern.trimEnd().length;
  while (at < end) {
    if (open) return "* may only be its last word; quote a * that is meant literally";
    token.lastIndex = at;
    const written = token.exec(pattern)?.[1];
    if (written === undefined) return whyNot(pattern.slice(at));
    at = token.lastIndex;
    if (written === "*") open = true;
    else
      words.push(
        written.replace(/'([^']*)'|"([^"]*)"/g, (_all, single?: string, double?: string) => single ?? double ?? ""),
      );
  }
  if (words.length === 0) return "it names no program; leave the parentheses out to mean every command";
  return { words, open };
}

/** Writes a word as a pattern of commands has it; undefined if it cannot be written there. */
export function quoteWord(word: string): string | undefined {
  return [word, `'${word}'`, `"${word}"`].find((text) => {
    const read = parseCommandPattern(`x ${text}`);
    return typeof read !== "string" && !read.open && read.words.length === 2 && read.words[1] === word;
  });
}

function whyNot(rest: string): string {
  if (/^\s*[^\s'"]*[;&|<>()$`\n]/.test(rest)) {
    return "it must be one simple command without operators, redirections or expansions; write a rule for each command, or quote them";
  }
  if (/^\s*[^\s'"]*\*/.test(rest)) return "* stands for whole words only at the end; quote a * that is meant literally";
  return "it cannot be split into words; quote what is not a plain word";
}

/** Returns whether an allow rule covers these words. Whether the further words of an open pattern are harmless is for the caller to see. */
export function coversCommand({ words, open }: CommandPattern, command: readonly string[]): boolean {
  if (open ? command.length < words.length : command.length !== words.length) return false;
  return words.every((word, at) => word === command[at]);
}

/** Returns whether the words of a pattern stand in a text in their order, wherever: for lines that cannot be read. */
export function mentions({ words }: CommandPattern, text: string): boolean {
  // Characters that a shell takes off may stand between the letters of a word.
  const plain = fold(text.replace(/\\\r?\n|['"\\]/g, ""));
  let at = 0;
  const [program = "", ...rest] = words.map(fold);
  for (const word of [programName(program), ...rest]) {
    const found = plain.indexOf(word, at);
    if (found < 0) return false;
    at = found + word.length;
  }
  return true;
}

/** Returns the name of a program, however it is written: by a path, in capitals, with the ending of a program on Windows. */
export function programName(word: string): string {
  return basename(fold(word).replaceAll("\\", "/")).replace(/\.(?:exe|cmd|bat|com)$/, "");
}

export function fold(word: string): string {
  return word.toLowerCase();
}

/** Decides whether a host matches a pattern of a rule. */
export type HostPattern = (host: string) => boolean;

const name = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const address6 = /^[0-9a-f]*:[0-9a-f:.]*:[0-9a-f:.]*$/;

/**
 * Compiles a pattern of hosts: `example.com` is that host alone, `*.example.com` every host below it. Letter case and a dot at the end do
 * not count. A text answers why the pattern is malformed.
 */
export function compileHostPattern(pattern: string): HostPattern | string {
  const plain = plainHost(pattern);
  const below = plain.startsWith("*.");
  const host = below ? plain.slice(2) : plain;
  if (host.includes("*")) return "* may only stand before the first dot of a host, as in *.example.com";
  if (!name.test(host) && !address6.test(host)) return "it is not the name or address of a host, such as example.com";
  return (tested) => {
    const one = plainHost(tested);
    return below ? one.endsWith(`.${host}`) : one === host;
  };
}

function plainHost(host: string): string {
  const plain = host.toLowerCase().replace(/\.$/, "");
  return plain.startsWith("[") && plain.endsWith("]") ? plain.slice(1, -1) : plain;
}
