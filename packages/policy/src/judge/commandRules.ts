import type { ToolEffect } from "@toolcrib/core";
import { type CommandPattern, coversCommand, meansCommand, mentions, startsProgram } from "../rules/commandPattern.ts";
import { bareRule, type RuleGroup } from "../rules/compileRules.ts";
import type { Rule } from "../rules/parseRule.ts";
import { isDeveloperTool } from "../shell/developerTools.ts";
import type { ShellLine, SimpleCommand } from "../shell/shellLine.ts";

/** The rule of deny or ask that is about a shell line: one of its commands, or, where not all of it can be seen, its text. */
export function bindingCommandRule(
  groups: readonly RuleGroup[],
  { command }: ToolEffect,
  line: ShellLine,
): { readonly rule: Rule; readonly command?: SimpleCommand | undefined } | undefined {
  const bare = bareRule(groups);
  if (bare) return { rule: bare };
  const seen = line.unreadable === undefined && line.commands.every(({ hidden }) => hidden === undefined);
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
export function coveringCommandRule(groups: readonly RuleGroup[], command: SimpleCommand): Rule | undefined {
  const bare = bareRule(groups);
  if (bare) return bare;
  for (const { commands } of groups) {
    for (const { rule, pattern } of commands) {
      if (coversCommand(pattern, command.words) && isHarmless(pattern, command)) return rule;
    }
  }
  return undefined;
}

/** Whether a pattern says all that the command does: what it hides is spelt out, and `*` stands for nothing that runs or writes. */
function isHarmless({ words: spelt, open }: CommandPattern, command: SimpleCommand): boolean {
  const { words, hidden, hiddenAt = words.length, moreWords, variables } = command;
  // Words that the line does not show could be any option.
  if (moreWords === true || (variables !== undefined && variables.length > 0)) return false;
  if (hidden !== undefined && hiddenAt >= spelt.length) return false;
  return !open || isDeveloperTool(words[0] ?? "") || !words.slice(spelt.length).some(isRiskyOption);
}

/** Long options that many programs have, and that run a program, load a file or write one. Programs take the head of a name for it. */
const riskyOptions: readonly string[] = [
  ...[
    "exec",
    "execute",
    "command",
    "cmd",
    "eval",
    "evaluate",
    "config",
    "configfile",
    "rcfile",
    "init-file",
    "output",
    "outfile",
  ],
  ...[
    "out-file",
    "output-directory",
    "script-shell",
    "shell",
    "prefix",
    "require",
    "import",
    "loader",
    "experimental-loader",
  ],
  ...[
    "plugin",
    "plugins",
    "preload",
    "pre",
    "pager",
    "editor",
    "rsh",
    "rsync-path",
    "upload-pack",
    "receive-pack",
    "ext-diff",
  ],
  ...[
    "textconv",
    "to-command",
    "use-compress-program",
    "checkpoint-action",
    "open-files-in-pager",
    "hook",
    "hooks",
    "hooks-path",
  ],
  ...[
    "node-options",
    "node-arg",
    "userconfig",
    "globalconfig",
    "globalSetup",
    "setupFiles",
    "reporter",
    "reporters",
    "runner",
  ],
  ...[
    "testRunner",
    "resolver",
    "transform",
    "environment",
    "env-file",
    "inspect",
    "inspect-brk",
    "interpreter",
    "python",
  ],
  ...["directory", "git-dir", "work-tree", "exec-path", "manifest-path", "target-dir", "makefile", "file"],
].map((name) => name.toLowerCase());

/** Names of their own that are also the head of a risky one. */
const ownNames = new Set(["check", "test", "tests", "target", "run", "output-logs"]);

function isRiskyOption(word: string): boolean {
  const name = /^--([^=]+)/.exec(word)?.[1]?.toLowerCase();
  if (name === undefined || ownNames.has(name)) return false;
  const parts = name.split(/[.:_]/);
  return riskyOptions.some((risky) => risky.startsWith(name) || parts.includes(risky) || name.startsWith(`${risky}-`));
}
