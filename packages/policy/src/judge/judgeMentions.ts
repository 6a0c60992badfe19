import { attempt } from "@toolcrib/core/internal";
import { oneLine } from "../describe.ts";
import { findProgram } from "../programs/table.ts";
import { bareRule, type Groups, type RuleGroup, type RuleList } from "../rules/compileRules.ts";
import type { Rule } from "../rules/parseRule.ts";
import { coversCommand } from "../rules/patterns.ts";
import type { Settings } from "../settings.ts";
import { byRule, notTold, type Subject, type Verdict } from "../verdict.ts";
import { type CommandLine, type LineCommand, subjectOf, wordsOfUnread } from "./commandLine.ts";
import { hasPattern } from "./folders.ts";
import type { Place } from "./looks.ts";
import { outrightRule } from "./protectedPaths.ts";

/**
 * Judges the words of commands that may do anything with a file or host they name: a word that a rule of deny or ask is about is
 * taken for a use of it, and so is one that names a protected path.
 */
export function judgeMentions(line: CommandLine, groups: Groups, settings: Settings): Verdict[] {
  const find = (words: readonly string[], command?: LineCommand): Verdict[] =>
    mentionsIn(words, command, line, groups, settings);
  const values = Object.values(line.effect.env ?? {});
  if (line.unreadable !== undefined)
    return find([...values, ...wordsOfUnread(line, settings), ...line.commands.flatMap(({ words }) => words)]);
  const ofCommands = line.commands.flatMap((command) => {
    // Nobody knows which words of git are paths.
    if (command.moves || (!command.changes && !command.ofRepository)) return [];
    const words = command.words.filter((_word, at) => at > 0 && !command.data.has(at));
    const found = find([...words, ...command.assignments.map(({ value }) => value)], command);
    return command.changes ? [...found, ...judgeUnseen(command, line, settings)] : found;
  });
  return [...(values.length === 0 ? [] : find(values)), ...ofCommands];
}

/** Judges what a command that does more than read may do unseen: what a rule forbids for every path. */
function judgeUnseen(command: LineCommand, line: CommandLine, { rules }: Settings): Verdict[] {
  if (command.words.length === 0) return [];
  for (const list of ["deny", "ask"] as const) {
    const rule = bareRule([rules[list].ofNames]);
    if (!rule) continue;
    const why = `whether it does what the rule ${rule.text} is about cannot be seen`;
    return [{ ...byRule(list, rule.text, subjectOf(command, line)), decision: "ask", why }];
  }
  return [];
}

const fileKinds = ["read", "write", "delete"] as const;

/** A word, and the path that it is from a directory: by its names, and with links followed where that is another. */
interface PossiblePath extends Place {
  readonly word: string;
  readonly forms: readonly string[];
}

function mentionsIn(
  words: readonly string[],
  command: LineCommand | undefined,
  line: CommandLine,
  groups: Groups,
  settings: Settings,
): Verdict[] {
  const { mode, rules } = settings;
  const { effect, looks, hasInput, directories } = line;
  const subject: Subject = command
    ? subjectOf(command, line)
    : { what: `run: ${oneLine(effect.command ?? "")}`, effect };
  const readsOnly = command?.changes === false;
  // What the shell replaces, and what a script may hold.
  const replaced = new Set(command?.patterns?.map((at) => command.words[at]));
  const mayBePattern = (word: string): boolean => command === undefined || replaced.has(word) || script.test(word);
  const possible = possiblePaths(words, mayBePattern);
  const paths: PossiblePath[] = [];
  const possiblePath = (directory: string, word: string): PossiblePath => {
    const place = looks.place(directory, word);
    return { word, ...place, forms: place.named === place.opened ? [place.named] : [place.named, place.opened] };
  };
  for (const directory of directories) {
    for (const [word, isPattern] of possible) {
      const meant = isPattern ? looks.expand(directory, word) : [word];
      // The user is asked about the rest as a whole.
      if (!looks.take(meant.length)) return [];
      for (const one of meant) {
        paths.push(possiblePath(directory, one));
        if (packed.test(one)) paths.push(possiblePath(directory, one.replace(packed, "")));
      }
    }
  }
  const verdicts: Verdict[] = [];
  const through = paths.find((path) => looks.leadsThroughProcess(path, hasInput && !readsOnly));
  if (through !== undefined) verdicts.push(notTold("unreadable", mode, throughProcess(through.word), subject));
  for (const list of ["deny", "ask"] as const) {
    const mentioned = mentionedRule(groupsAbout(command, rules[list]), paths);
    if (mentioned === undefined) continue;
    const { rule, word } = mentioned;
    const why = `its word ${oneLine(word, 120)} may name what the rule ${rule.text} ${list === "deny" ? "denies" : "asks about"}`;
    verdicts.push({ ...byRule(list, rule.text, subject), why });
  }
  if (readsOnly || mode === "read-only") return verdicts;
  const found = firstOf(paths, (path) => judgeProtectedWord(path, command, groups, subject, settings));
  return found === undefined ? verdicts : [...verdicts, found];
}

/** Says why a path is not known here. */
export function throughProcess(word: string): string {
  return `${oneLine(word, 120)} leads through a folder of the process itself, which is another one for the command`;
}

/** Lists the rules about what a command may do with what its words name. */
function groupsAbout(command: LineCommand | undefined, rules: RuleList): readonly RuleGroup[] {
  const { access } = findProgram(command?.words[0] ?? "") ?? {};
  const kinds = command?.changes === false ? "read" : access;
  const groups =
    kinds === undefined ? [rules.ofNames] : fileKinds.map((kind) => kinds.includes(kind) && rules.ofEffect(kind));
  return groups.filter((group) => group !== undefined && group !== false);
}

function mentionedRule(
  groups: readonly RuleGroup[],
  paths: readonly PossiblePath[],
): { readonly rule: Rule; readonly word: string } | undefined {
  for (const { paths: patterns, byPattern, hosts } of groups) {
    const found = firstOf(paths, ({ word, forms }) => {
      const pattern = firstOf(forms, (path) => patterns?.match(path));
      const ofHost = (): Rule | undefined =>
        hosts.find(({ matches }) => word.split("/").some((part) => matches(part)))?.rule;
      const rule = pattern === undefined ? ofHost() : byPattern.get(pattern);
      return rule && { rule, word };
    });
    if (found !== undefined) return found;
  }
  return undefined;
}

function judgeProtectedWord(
  { word, forms }: PossiblePath,
  command: LineCommand | undefined,
  groups: Groups,
  subject: Subject,
  { protectedPaths, rules, bases }: Settings,
): Verdict | undefined {
  const found = firstOf(forms, (path) => {
    const entry = protectedPaths.match(path);
    return entry && { path, entry };
  });
  if (!found) return undefined;
  const { path, entry } = found;
  const cause = { by: "protected", pattern: entry.pattern } as const;
  if (entry.never) return { decision: "deny", cause, why: entry.why, ...subject };
  const isSpelt = groups.allow.some(({ commands }) =>
    commands.some(({ pattern }) => pattern.words.includes(word) && command && coversCommand(pattern, command.words)),
  );
  if (isSpelt) return undefined;
  const allowed = (["write", "delete"] as const).flatMap((kind) => rules.allow.ofEffect(kind) ?? []);
  if (outrightRule(allowed, path, entry, protectedPaths, bases)) return undefined;
  const why = `${oneLine(word, 120)} is protected (${entry.pattern}): ${entry.why}`;
  return { decision: "ask", cause, why, ...subject };
}

function firstOf<Item, Found>(items: readonly Item[], look: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = look(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Characters between the parts of a word: of options, addresses, lists and scripts. */
const betweenParts = /[\s'"`;|&<>(){}$\\=:@,]+/;

/** Addresses of files in which characters are written as codes: `file:///%2eenv`. */
const encoded = /:.*%[0-9A-Fa-f]{2}/s;

const plainWord = /^[\w./][\w./+-]*$/;

/** Suffixes that programs take off the name of a file that they unpack, and git off that of a repository. */
const packed = /[._-](?:gz|z|bz2?|xz|lzma|zst|lz4|br|git|bundle)\/*$/i;

/** Characters of a word that another shell may read. */
const script = /[\s;|&<>()`$'"]/;

/**
 * Lists the words that may be paths, and the parts in them that may be: after `=`, `:`, `@`, in quotes, or after the letter of an option.
 * Says of each whether it may be a file pattern.
 */
function possiblePaths(
  words: readonly string[],
  mayBePattern: (word: string) => boolean,
): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>();
  for (const word of words) {
    // Most words have no parts.
    if (plainWord.test(word)) {
      found.set(word, false);
      continue;
    }
    const isPattern = hasPattern(word) && mayBePattern(word);
    const decoded = encoded.test(word) ? [attempt(() => decodeURIComponent(word)) ?? ""] : [];
    for (const text of [word, ...decoded, ...valuesAfterLetters(word)])
      for (const part of [text, ...text.split(betweenParts)])
        if (isPossiblePath(part, text)) found.set(part, isPattern || found.get(part) === true);
  }
  return found;
}

/** A star that is a part alone, as in `run-s build:*`, is the program's own: the shell matches whole words. */
function isPossiblePath(part: string, word: string): boolean {
  return part !== "" && !isOption(part) && !part.includes("\0") && (part === word || !/^\*+$/.test(part));
}

/** As many letters as anybody joins. */
const mostLetters = 6;

/** Lists what may be the value of one of the joined letters: of `-qF.env` both `F.env` and `.env`. */
function valuesAfterLetters(word: string): string[] {
  const letters = /^-[A-Za-z]+/.exec(word)?.[0].length ?? 0;
  const ends = Array.from({ length: Math.min(letters - 1, mostLetters) }, (_, at) => at + 2);
  return ends.map((end) => word.slice(end)).filter((value) => value !== "");
}

/** Recognises words that programs never take for a path, or that name nothing a rule is about. */
function isOption(part: string): boolean {
  return part.startsWith("-") && !part.includes("/");
}
