import type { ToolEffect } from "@toolcrib/core";
import { isInside } from "@toolcrib/kit/files";
import { describeEffect, oneLine } from "../describe.ts";
import type { Uncovered } from "../programs/uncovered.ts";
import { bareRule, type Groups, type RuleGroup } from "../rules/compileRules.ts";
import type { Rule } from "../rules/parseRule.ts";
import { type CommandPattern, coversCommand, mentions, quoteWord } from "../rules/patterns.ts";
import type { Settings } from "../settings.ts";
import { askOrDeny, byMode, byRule, notTold, type Subject, type Verdict } from "../verdict.ts";
import {
  type CommandLine,
  handsOn,
  type LineCommand,
  mayStartAny,
  readCommandLine,
  subjectOf,
  writtenOut,
} from "./commandLine.ts";
import { noteEnvironment, riskyVariable } from "./environment.ts";
import { isHeld, judgeBeyond } from "./judgeBeyond.ts";
import { judgeNamedFiles } from "./judgeNamedFiles.ts";
import type { Looks } from "./looks.ts";
import { holdsCommand, meansCommand, startsProgram } from "./meansCommand.ts";

/** Judges an effect of the kind `execute`: a shell line, each command in it, and the files that they name. */
export function judgeCommand(effect: ToolEffect, groups: Groups, settings: Settings, looks: Looks): Verdict[] {
  const { mode } = settings;
  const line = readCommandLine(effect, groups, settings, looks);
  noteEnvironment(line, settings);
  if (groups.allow.length > 0) for (const command of line.commands) noteRule(command, groups.allow);
  const subject: Subject = { what: describeEffect(effect, settings.scope), effect };
  const verdicts: Verdict[] = [];
  for (const list of ["deny", "ask"] as const) {
    if (groups[list].length === 0) continue;
    const found = ruleAboutLine(groups[list], line, settings);
    if (found) verdicts.push(byRule(list, found.rule.text, { ...subject, command: found.command?.text }));
    if (found && list === "deny") return verdicts;
    const held = ruleHeld(groups[list], line);
    if (held) verdicts.push(judgeHeld(list, held, subject, settings));
  }
  if (line.unreadable === undefined) verdicts.push(...judgeReadable(line, groups, subject, settings));
  else verdicts.push(judgeUnreadable(line, line.unreadable, groups, subject, settings));
  if (effect.remote !== undefined && settings.limited.size > 0) {
    const why = "rules are about files, and where links lead there cannot be seen from here";
    verdicts.push(notTold("unreadable", mode, why, subject));
  }
  verdicts.push(...judgeNamedFiles(line, groups, settings));
  return [...verdicts, ...judgeBeyond(line, settings)];
}

/** A rule of deny or ask, and the command that it is about; none if it is about the line. */
interface RuleAbout {
  readonly rule: Rule;
  readonly command?: LineCommand | undefined;
}

/** Finds the rule of deny or ask that is about words of a program that nobody here knows, which it may start. */
function ruleHeld(groups: readonly RuleGroup[], { commands }: CommandLine): RuleAbout | undefined {
  const unknown = commands.filter(mayStartAny);
  for (const { rule, pattern } of unknown.length === 0 ? [] : groups.flatMap((group) => group.commands)) {
    const command = unknown.find(({ words }) => holdsCommand(pattern, words));
    if (command !== undefined) return { rule, command };
  }
  return undefined;
}

function judgeHeld(list: "deny" | "ask", { rule, command }: RuleAbout, subject: Subject, { mode }: Settings): Verdict {
  const about = { ...subject, command: command?.text };
  if (list === "ask") return byRule("ask", rule.text, about);
  const why = `${oneLine(command?.words[0] ?? "", 60)} may start what the rule ${rule.text} denies`;
  return notTold("unreadable", mode, why, about);
}

/** Judges a line that cannot be read: it runs only where nothing is forbidden that could be in it. */
function judgeUnreadable(
  { allowsAll }: CommandLine,
  unreadable: string,
  groups: Groups,
  subject: Subject,
  settings: Settings,
): Verdict {
  const restriction = allowsAll ? firstRestriction(groups, subject.effect, settings) : undefined;
  if (allowsAll && restriction === undefined) return allowedWhole(groups, subject, settings);
  const why =
    restriction === undefined ? "it cannot be judged" : `what the rule ${restriction} is about could be hidden in it`;
  return notTold("unreadable", settings.mode, `${why}: ${asClause(unreadable)}`, subject);
}

/** Returns the text of a rule of deny or ask about commands, files or hosts. */
function firstRestriction(groups: Groups, effect: ToolEffect | undefined, settings: Settings): string | undefined {
  const { rules } = settings;
  // A sandbox that holds the rules about files keeps them for any line.
  const kinds = effect && isHeld(effect, settings) ? [] : (["read", "write", "delete"] as const);
  for (const list of ["deny", "ask"] as const) {
    const others = [...kinds, "network" as const].flatMap((kind) => rules[list].ofEffect(kind) ?? []);
    // The input of a command may hold what another tool's rules forbid as a command.
    const ofCommands = effect?.input === undefined ? [] : rules[list].ofTool("run_bash", "");
    for (const { bare, patterned } of [...groups[list], ...others, ...ofCommands]) {
      const rule = patterned[0] ?? bare[0];
      if (rule) return rule.text;
    }
  }
  return undefined;
}

function allowedWhole(groups: Groups, subject: Subject, { mode }: Settings): Verdict {
  const rule = bareRule(groups.allow);
  return rule ? byRule("allow", rule.text, subject) : byMode("allow", mode, `the mode ${mode} allows it`, subject);
}

function judgeReadable(line: CommandLine, groups: Groups, subject: Subject, settings: Settings): Verdict[] {
  const { mode } = settings;
  if (line.allowsAll) {
    const restriction = line.commands.some(handsOn) ? firstRestriction(groups, line.effect, settings) : undefined;
    if (restriction === undefined) return [allowedWhole(groups, subject, settings)];
    const why = `what the rule ${restriction} is about could be hidden in it: a command in it starts another with words that it does not show`;
    return [notTold("unreadable", mode, why, subject)];
  }
  const around = whatIsAround(line, settings);
  const verdicts = around === undefined ? [] : [byMode(askOrDeny(mode), mode, around, subject)];
  for (const command of line.commands) verdicts.push(judgeSimple(command, line, groups, settings));
  return verdicts.length > 0 ? verdicts : [byMode("allow", mode, "it runs nothing", subject)];
}

/** Says why the line's surroundings could change what its commands do. */
function whatIsAround(line: CommandLine, { roots }: Settings): string | undefined {
  const { effect, commands, directories } = line;
  if (!line.isFollowed) return "it changes the working directory in a way that cannot be followed";
  const outside = directories.find((directory) => !roots.some((root) => isInside(root, directory)));
  if (outside !== undefined) return `it runs in ${oneLine(outside, 120)}, outside the roots`;
  const risky = riskyVariable(effect.env ?? {}, commands);
  if (risky !== undefined) return `it sets the variable ${oneLine(risky, 60)}, which could change what runs`;
  const dashed = effect.remote === undefined ? dashedName(line) : undefined;
  return dashed && `a file pattern of it may meet the name ${oneLine(dashed, 60)}, which would be an option`;
}

/** A pattern for a first letter that may be a dash, as a set of letters and digits is not. */
const mayBeginWithDash = /^(?:[*?]|\[(?!(?:[A-Za-z0-9](?:-[A-Za-z0-9])?)+\]))/;

/** Returns the name of a file that begins with a dash, which a pattern of a command may stand for. */
function dashedName({ commands, directories, looks }: CommandLine): string | undefined {
  for (const { words, patterns = [], reads, data } of commands) {
    const end = words.includes("--") ? words.indexOf("--") : words.length;
    const open = patterns.filter((at) => at > 0 && at < end && mayBeginWithDash.test(words[at] ?? ""));
    if (open.length === 0 || data.has(open[0] ?? 0)) continue;
    if (typeof reads !== "string" && reads.paths.length === 0 && reads.contents === undefined) continue;
    for (const directory of directories) {
      const names = open.flatMap((at) => looks.expand(directory, words[at] ?? ""));
      const found = names.find((name) => name.startsWith("-"));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function judgeSimple(command: LineCommand, line: CommandLine, { allow }: Groups, { mode }: Settings): Verdict {
  const { words, reads, uncovered, allowedBy, moves } = command;
  const subject = subjectOf(command, line);
  if (moves) return byMode("allow", mode, "it only changes the working directory", subject);
  if (typeof reads !== "string")
    return byMode("allow", mode, words.length === 0 ? "it only sets variables" : "it only reads", subject);
  if (mode === "read-only")
    return byMode("deny", mode, `the mode read-only allows only read-only commands (${asClause(reads)})`, subject);
  if (allowedBy) return byRule("allow", allowedBy.text, subject);
  const why = `${asClause(uncovered?.why ?? reads)}${uncovered === undefined ? "" : spellingOut(allow, command, uncovered)}`;
  return byMode("ask", mode, `no rule allows it (${why})`, subject);
}

/** Says which rule comes near, and which one would do: with the words up to the last that `*` does not stand for. */
function spellingOut(groups: readonly RuleGroup[], command: LineCommand, { at }: Uncovered): string {
  const { words, unsafeRepository, moreWords, variables = [] } = command;
  if (unsafeRepository !== undefined || moreWords === true || variables.length > 0) return "";
  const rules = groups.flatMap(({ commands }) => commands);
  const near = rules.find(({ pattern }) => pattern.open && coversCommand(pattern, words));
  if (near === undefined) return "";
  const none = `; the * of ${near.rule.text} does not stand for that`;
  const spelled = words.slice(0, at + 1).map(quoteWord);
  if (at >= words.length || spelled.includes(undefined)) return none;
  const rule = `${near.rule.text.replace(/\(.*/s, "")}(${spelled.join(" ")}${at + 1 < words.length ? " *" : ""})`;
  return rule.length > 200 ? none : `${none}, but the rule ${rule} would`;
}

function asClause(sentence: string): string {
  const clause = sentence.replace(/\.$/, "");
  return oneLine(/^(?:It|A|An|The) /.test(clause) ? clause.charAt(0).toLowerCase() + clause.slice(1) : clause, 200);
}

/** Finds the rule of deny or ask that is about a line: about one of its commands, or its text if not all of it can be seen. */
function ruleAboutLine(
  groups: readonly RuleGroup[],
  line: CommandLine,
  { bases: { home = "~" } }: Settings,
): RuleAbout | undefined {
  const { commands, unreadable } = line;
  const { command } = line.effect;
  const bare = bareRule(groups);
  if (bare) return { rule: bare };
  const isSeen = unreadable === undefined && commands.every(({ uncovered }) => uncovered === undefined);
  const texts = unreadable === undefined ? [command ?? ""] : [command ?? "", ...writtenOut(line, home)];
  for (const group of groups) {
    // A pattern that cannot be tested binds: the command could be anything.
    const untested = command === undefined ? group.patterned[0] : group.notOfCommands;
    if (untested) return { rule: untested };
    for (const { rule, pattern } of group.commands) {
      const meant = commands.find(
        (one) =>
          meansCommand(pattern, one.words) ||
          (one.moreWords === true && startsProgram(pattern, one.words)) ||
          (one.uncovered !== undefined && holdsCommand(pattern, one.words)),
      );
      if (meant || (!isSeen && texts.some((text) => mentions(pattern, text)))) return { rule, command: meant };
    }
  }
  return undefined;
}

/** Notes the rule of allow that covers a simple command: one that spells it out, if there is one. */
function noteRule(command: LineCommand, groups: readonly RuleGroup[]): void {
  command.allowedBy = bareRule(groups);
  // A rule is about its folder.
  if (command.allowedBy !== undefined || command.unsafeRepository !== undefined) return;
  for (const { commands } of groups) {
    for (const { rule, pattern } of commands) {
      if (!coversCommand(pattern, command.words) || !spellsOut(pattern, command)) continue;
      if (!pattern.open) command.spelledOut = true;
      if (!pattern.open || command.allowedBy === undefined) command.allowedBy = rule;
      if (!pattern.open) return;
    }
    if (command.allowedBy !== undefined) return;
  }
}

/** Returns whether a pattern says all that the command does: what its wildcard must not cover is spelt out. */
function spellsOut({ words }: CommandPattern, { uncovered, moreWords, variables = [] }: LineCommand): boolean {
  // Words that the line does not show could be any option.
  if (moreWords === true || variables.length > 0) return false;
  return uncovered === undefined || uncovered.at < words.length;
}
