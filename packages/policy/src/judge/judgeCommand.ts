import type { ToolEffect } from "@toolcrib/core";
import { isInside } from "@toolcrib/core/files";
import { bareRule, groupsFor } from "../rules/compileRules.ts";
import type { Caller, Settings } from "../settings.ts";
import type { Cause, Verdict } from "../verdict.ts";
import { describeEffect, oneLine } from "../words.ts";
import { bindingCommandRule, coveringCommandRule } from "./commandRules.ts";
import { byRule, type Groups } from "./judgeFile.ts";
import { judgeNamedFiles } from "./judgeNamedFiles.ts";
import type { Line } from "./line.ts";
import type { ShellLine, SimpleCommand } from "./shellReader.ts";
import { readOnlyCommand, readShellLine } from "./shellReader.ts";
import { riskyVariable } from "./variables.ts";
import { isPlainChange, workingDirectories } from "./workingDirectories.ts";

/** Judges an effect of the kind `execute`: a shell line, each command in it, and the files that they name. */
export async function judgeCommand(effect: ToolEffect, caller: Caller, settings: Settings): Promise<Verdict[]> {
  const groups = groupsOf(caller, settings);
  const line = readLine(effect, groups, settings);
  const what = describeEffect(effect, settings.scope);
  const denied = bindingCommandRule(groups.deny, effect, line);
  if (denied) return [{ ...byRule("deny", denied.rule.text, what, effect), command: denied.command?.text }];
  const verdicts: Verdict[] = [];
  const asked = bindingCommandRule(groups.ask, effect, line);
  if (asked) verdicts.push({ ...byRule("ask", asked.rule.text, what, effect), command: asked.command?.text });
  if (line.unreadable !== undefined) verdicts.push(judgeUnreadable(line, groups, what, settings));
  else verdicts.push(...judgeReadable(line, groups, what, settings));
  verdicts.push(...(await judgeNamedFiles(line, groups, settings)));
  return verdicts;
}

function groupsOf({ name, origin }: Caller, { rules }: Settings): Groups {
  return {
    allow: groupsFor(rules.allow, name, origin, "execute"),
    ask: groupsFor(rules.ask, name, origin, "execute"),
    deny: groupsFor(rules.deny, name, origin, "execute"),
  };
}

function readLine(effect: ToolEffect, groups: Groups, { mode, scope }: Settings): Line {
  const { command, shell, cwd = scope.cwd } = effect;
  const read: ShellLine =
    command === undefined
      ? { unreadable: "The tool does not say what it runs.", commands: [], redirections: [], changesDirectory: true }
      : readShellLine(command, shell === undefined ? {} : { shell });
  const vouched = mode === "full" || (mode !== "read-only" && bareRule(groups.allow) !== undefined);
  const directories = workingDirectories(read, command ?? "", cwd);
  return { ...read, effect, command: command ?? "", directories, vouched };
}

/** Asked, or denied where the mode asks nothing. */
function held(settings: Settings, cause: Cause, what: string, why: string, effect: ToolEffect): Verdict {
  const decision = settings.mode === "read-only" ? "deny" : "ask";
  return { decision, cause, what, why, effect };
}

/** A line that cannot be read runs only where nothing is forbidden that could be in it. */
function judgeUnreadable(line: Line, groups: Groups, what: string, settings: Settings): Verdict {
  const { effect, unreadable = "" } = line;
  const cause: Cause = { by: "unreadable" };
  const forbidding = firstRestriction(groups, settings);
  if (line.vouched && forbidding === undefined) return vouchedVerdict(groups, what, effect, settings);
  const why =
    forbidding === undefined
      ? `it cannot be judged: ${unreadable}`
      : `what the rule ${forbidding} is about could be hidden in it: ${unreadable}`;
  return held(settings, cause, what, why, effect);
}

/** A rule of deny or ask about commands or files. */
function firstRestriction(groups: Groups, { rules }: Settings): string | undefined {
  for (const list of ["deny", "ask"] as const) {
    const files = (["read", "write", "delete", "network"] as const).flatMap((kind) => rules[list].ofEffect(kind) ?? []);
    for (const { bare, patterned } of [...groups[list], ...files]) {
      const rule = patterned[0] ?? bare[0];
      if (rule) return rule.text;
    }
  }
  return undefined;
}

function vouchedVerdict(groups: Groups, what: string, effect: ToolEffect, { mode }: Settings): Verdict {
  const rule = bareRule(groups.allow);
  if (rule) return byRule("allow", rule.text, what, effect);
  return { decision: "allow", cause: { by: "mode", mode }, what, why: `the mode ${mode} allows it`, effect };
}

function judgeReadable(line: Line, groups: Groups, what: string, settings: Settings): Verdict[] {
  const { effect, commands } = line;
  if (line.vouched) return [vouchedVerdict(groups, what, effect, settings)];
  const cause: Cause = { by: "mode", mode: settings.mode };
  const around = whatIsAround(line, settings);
  const verdicts = around === undefined ? [] : [held(settings, cause, what, around, effect)];
  for (const command of commands) verdicts.push(judgeSimple(command, groups, effect, settings));
  if (verdicts.length > 0) return verdicts;
  return [{ decision: "allow", cause, what, why: "it runs nothing", effect }];
}

/** Why the line's surroundings could change what its commands do. */
function whatIsAround({ effect, commands, directories }: Line, { roots }: Settings): string | undefined {
  if (directories === undefined) return "it changes the working directory in a way that cannot be followed";
  const outside = directories.find((directory) => !roots.some((root) => isInside(root, directory)));
  if (outside !== undefined) return `it runs in ${oneLine(outside, 120)}, outside the roots`;
  const names = commands.flatMap(({ assignments }) => assignments.map(({ name }) => name));
  const risky = riskyVariable([...Object.keys(effect.env ?? {}), ...names]);
  return risky === undefined ? undefined : `it sets the variable ${oneLine(risky, 60)}, which could change what runs`;
}

function judgeSimple(command: SimpleCommand, groups: Groups, effect: ToolEffect, settings: Settings): Verdict {
  const { mode } = settings;
  const what = `run: ${oneLine(command.text)}`;
  const cause: Cause = { by: "mode", mode };
  const ofCommand = { what, effect, command: command.text };
  const allow = (why: string): Verdict => ({ decision: "allow", cause, why, ...ofCommand });
  if (command.words.length === 0) return allow("it only sets variables");
  if (isPlainChange(command.words)) return allow("it only changes the working directory");
  const { readOnly, why } = readOnlyCommand(command);
  if (readOnly) return allow("it is in the table of read-only commands");
  if (mode === "read-only") {
    return {
      decision: "deny",
      cause,
      why: `the mode read-only allows read-only commands alone${because(why)}`,
      ...ofCommand,
    };
  }
  const rule = coveringCommandRule(groups.allow, command);
  if (rule) return { ...byRule("allow", rule.text, what, effect), command: command.text };
  return { decision: "ask", cause, why: `no rule allows it${because(command.hidden ?? why)}`, ...ofCommand };
}

function because(why: string | undefined): string {
  return why === undefined ? "" : ` (${oneLine(why.replace(/\.$/, ""), 160)})`;
}
