import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { readShellLine } from "../../packages/policy/src/shell/readCommand.ts";

/** The results of real shells for texts, as the long suites recorded them. */
export interface ShellAnswers {
  /** The shells that were asked, with their versions. */
  readonly versions: string;
  readonly answers: Readonly<Record<string, readonly string[]>>;
}

export function readAnswers(name: "patternAnswers" | "dollarQuotes"): ShellAnswers {
  return JSON.parse(readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), "utf8"));
}

/** Makes the folder in which patterns are expanded. */
export function makePatternFolder(folder: string): void {
  const names = [
    ".env",
    ".git",
    ".gut",
    "a",
    "b",
    "é",
    "]x",
    "[x",
    "a]b",
    "-x",
    "!x",
    "^x",
    "x.ts",
    "a b",
    "...",
    "..a",
  ];
  for (const name of [...names, "[a]", "a\\b", "A", ".git/hooks", "a/.env", "a/b"])
    mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, "..", "secret"), "");
}

const wanted: readonly (readonly string[])[] = [
  ["dash", "-c"],
  ["bash", "+O", "globskipdots", "-c"],
  ["bash", "--posix", "-c"],
  ["bash", "-c"],
  ["busybox", "sh", "-c"],
];
const shells = wanted.filter(([program = "", ...args]) => spawnSync(program, [...args, ":"]).status === 0);

/** The reason why shells cannot be asked here; undefined if they can. */
export const cannotAsk: string | undefined =
  shells.length === wanted.length ? undefined : "dash, bash 5.2 and busybox are needed";

const pieces =
  `* ? . .. / [ ] ! ^ - a e g nv it x b \\ ' " : = [a-z] [!a] [^.] []x] [!]x] [[:lower:]] [[:punct:]e] [[.e.]] [[=e=]] [\\]e] ` +
  `['e]'] ["]"e] [a- .* .[.] .? [.] \\[ [/] é`;

/** A word that every shell reads whole. */
export const patternWord: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...pieces.split(" ")), { minLength: 1, maxLength: 6 })
  .map((parts) => parts.join(""))
  .filter((text) => readShellLine(`printf x ${text}`).unreadable === undefined && !text.startsWith("/"));

/** The names that any of the shells puts in the place of each word in a folder, beside the word itself. */
export function askPatterns(words: readonly string[], folder: string): string[][] {
  const script = words.map((text) => `printf '%s\\0' ${text}; printf '\\1\\0'`).join("\n");
  const found = words.map(() => new Set<string>());
  for (const [program = "", ...args] of shells) {
    const output = execFileSync(program, [...args, script], {
      cwd: folder,
      // bash takes a socket as its standard input for a login from afar, and then reads the user's .bashrc.
      ...{ env: { LC_ALL: "C.UTF-8" }, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] },
    });
    for (const [at, names] of output.split("\u0001\0").slice(0, -1).entries())
      for (const name of names.split("\0").slice(0, -1)) if (name !== wordValue(words[at] ?? "")) found[at]?.add(name);
  }
  return found.map((names) => [...names].sort());
}

/** A word as the policy reads it: without its quotes. */
export function wordValue(word: string): string {
  return readShellLine(`printf x ${word}`).commands[0]?.words[2] ?? "";
}

const characters = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).filter((one) => one !== "'");
const afterBackslash = [...characters, "'"].flatMap((one) =>
  ["", "0", "7", "2d", "{2d}", "41", "x", "12345678"].map((more) => `\\${one}${more}`),
);
const quotedParts = fc.array(fc.oneof(fc.constantFrom(...characters), fc.constantFrom(...afterBackslash)), {
  maxLength: 4,
});
const quotesOf = (texts: readonly string[]): string[] =>
  // A backslash at the end would take the quote, and a quote that no backslash stands before ends the text.
  texts.filter((text) => !/['\\]/.test(text.replace(/\\./gs, ""))).map((text) => `$'${text}'`);

/** Each escape, alone. */
export const escapes: readonly string[] = quotesOf(afterBackslash);

export function sampleQuotes(count: number): string[] {
  return quotesOf(fc.sample(quotedParts, count).map((parts) => parts.join("")));
}

/** Asks bash for the value of each `$'…'` in the locales C and C.UTF-8: one value, or two if they differ. */
export function askQuotes(quoted: readonly string[]): string[][] {
  // A script of more is too long to be given as a word.
  if (quoted.length > 1000) return [...askQuotes(quoted.slice(0, 1000)), ...askQuotes(quoted.slice(1000))];
  // Values end with a NUL.
  const script = quoted.map((text) => `printf '%s\\0' ${text}`).join("\n");
  const [plain = [], unicode = []] = ["C", "C.UTF-8"].map((LC_ALL) =>
    execFileSync("bash", ["-c", script], {
      ...{ env: { LC_ALL }, encoding: "latin1", stdio: ["ignore", "pipe", "pipe"] },
    }).split("\0"),
  );
  return quoted.map((_, at) => [...new Set([plain[at] ?? "", unicode[at] ?? ""])]);
}
