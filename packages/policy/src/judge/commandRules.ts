import type { ToolEffect } from "@toolcrib/core";
import { type CommandPattern, coversCommand, meansCommand, mentions, startsProgram } from "../rules/commandPattern.ts";
import { bareRule, type RuleGroup } from "../rules/compileRules.ts";
import type { Rule } from "../rules/parseRule.ts";
import type { ShellLine, SimpleCommand } from "../shell/shellLine.ts";
import type { LineCommand } from "./line.ts";

/** The rule of deny or ask that is about a shell line: one of its commands, or, where not all of it can be seen, its text. */
export function bindingCommandRule(
  groups: readonly RuleGroup[],
  { command }: ToolEffect,
  line: ShellLine,
): { readonly rule: Rule; readonly command?: SimpleCommand | undefined } | undefined {
  const bare = bareRule(groups);
  if (bare) return { rule: bare };
  const seen = line.unreadable === undefined && line.commands.every(({ uncovered }) => uncovered === undefined);
  for (const { patterned, commands, notOfCommands } of groups) {
    // A pattern that cannot be tested binds: the command could be anything.
    const untested = command === undefined ? patterned[0] : notOfCommands;
    if (untested) return { rule: untested };
    for (const { rule, pattern } of commands) {
      const meant = line.commands.find(
        ({ words, moreWords }) => meansCommand(pattern, words) || (moreWords === true && startsProgram(pattern, words)),
      );
      if (meant || (!seen && mentions(pattern, command ?? ""))) return { rule, command: meant };
    }
  }
  return undefined;
}

/** The rule of allow that covers a simple command. */
export function coveringCommandRule(groups: readonly RuleGroup[], command: LineCommand): Rule | undefined {
  const bare = bareRule(groups);
  if (bare) return bare;
  // A rule is about its folder.
  if (command.foreign !== undefined) return undefined;
  for (const { commands } of groups) {
    for (const { rule, pattern } of commands) {
      if (coversCommand(pattern, command.words) && saysAll(pattern, command)) return rule;
    }
  }
  return undefined;
}

/** Returns whether a pattern says all that the command does: what its wildcard must not cover is spelt out. */
function saysAll({ words: spelt }: CommandPattern, { uncovered, moreWords, variables = [] }: SimpleCommand): boolean {
  // Words that the line does not show could be any option.
  if (moreWords === true || variables.length > 0) return false;
  return uncovered === undefined || uncovered.at < spelt.length;
}
