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

/**
 * Returns whether a deny or ask rule is meant: wider, since the same command can be written in many ways. The program may be named by a
 * path or in capitals, options may stand in between, and joined letters of options (`-rf`) apart.
 */
export function meansCommand({ words, open }: CommandPattern, command: readonly string[]): boolean {
  if (!startsProgram({ words, open }, command)) return false;
  const wanted = words.slice(1).map(fold);
  const rest = command.slice(1).map(fold);
  const left = wanted.filter((word) => !isCluster(word));
  const letters = wanted.filter(isCluster).join("").replaceAll("-", "");
  const commandLetters = new Set(rest.filter(isCluster).join(""));
  if (![...letters].every((letter) => commandLetters.has(letter))) return false;
  let afterOption = false;
  for (const word of rest) {
    if (left.length > 0 && word === left[0]) {
      left.shift();
      afterOption = false;
    } else if (word.startsWith("-")) {
      afterOption = true;
    } else {
      // The word may belong to the option before it.
      if (!open && !afterOption) return false;
      afterOption = false;
    }
  }
  return left.length === 0;
}

/** Returns whether a command is of the program that the pattern names: for commands that get further words, which could be any. */
export function startsProgram({ words: [program = ""] }: CommandPattern, [started = ""]: readonly string[]): boolean {
  return programName(fold(started)) === programName(fold(program));
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

/** Returns whether a word is one dash and letters: `-rf`. */
function isCluster(word: string): boolean {
  return /^-[a-z]+$/.test(word);
}

function programName(word: string): string {
  return basename(word.replaceAll("\\", "/")).replace(/\.(?:exe|cmd|bat|com)$/, "");
}

function fold(word: string): string {
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
