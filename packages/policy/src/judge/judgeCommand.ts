import type { ToolEffect } from "@toolcrib/core";
import { isInside } from "@toolcrib/kit/files";
import { bareRule } from "../rules/compileRules.ts";
import type { Settings } from "../settings.ts";
import { dataPlaces } from "../shell/builtins.ts";
import { askOrDeny, type Cause, type Verdict } from "../verdict.ts";
import { describeEffect, oneLine } from "../words.ts";
import type { Budget } from "./budget.ts";
import { bindingCommandRule, coveringCommandRule } from "./commandRules.ts";
import { expandPattern } from "./expandPattern.ts";
import { byRule, type Groups } from "./judgeFile.ts";
import { isAboutFiles, judgeNamedFiles } from "./judgeNamedFiles.ts";
import { type Line, type LineCommand, readLine } from "./line.ts";
import { riskyVariable } from "./variables.ts";
import { isPlainChange } from "./workingDirectories.ts";

/** Judges an effect of the kind `execute`: a shell line, each command in it, and the files that they name. */
export async function judgeCommand(
  effect: ToolEffect,
  groups: Groups,
  settings: Settings,
  budget: Budget,
): Promise<Verdict[]> {
  const line = readLine(effect, groups, settings);
  const what = describeEffect(effect, settings.scope);
  const denied = bindingCommandRule(groups.deny, effect, line);
  if (denied) return [{ ...byRule("deny", denied.rule.text, what, effect), command: denied.command?.text }];
  const verdicts: Verdict[] = [];
  const asked = bindingCommandRule(groups.ask, effect, line);
  if (asked) verdicts.push({ ...byRule("ask", asked.rule.text, what, effect), command: asked.command?.text });
  if (line.unreadable !== undefined) verdicts.push(judgeUnreadable(line, groups, what, settings));
  else verdicts.push(...judgeReadable(line, groups, what, settings));
  if (effect.remote !== undefined && isAboutFiles(settings)) {
    const why = "rules are about files, and where links lead there cannot be seen from here";
    verdicts.push({ decision: askOrDeny(settings.mode), cause: { by: "unreadable" }, what, why, effect });
  }
  verdicts.push(...(await judgeNamedFiles(line, groups, settings, budget)));
  return verdicts;
}

/** A line that cannot be read runs only where nothing is forbidden that could be in it. */
function judgeUnreadable(line: Line, groups: Groups, what: string, settings: Settings): Verdict {
  const { effect, unreadable = "" } = line;
  const forbidding = firstRestriction(groups, settings);
  if (line.vouched && forbidding === undefined) return vouchedVerdict(groups, what, effect, settings);
  const why =
    forbidding === undefined || !line.vouched
      ? `it cannot be judged: ${plainReason(unreadable)}`
      : `what the rule ${forbidding} is about could be hidden in it: ${plainReason(unreadable)}`;
  return { decision: askOrDeny(settings.mode), cause: { by: "unreadable" }, what, why, effect };
}

/** The text of a rule of deny or ask about commands, files or hosts. */
function firstRestriction(groups: Groups, { rules }: Settings): string | undefined {
  for (const list of ["deny", "ask"] as const) {
    const others = (["read", "write", "delete", "network"] as const).flatMap(
      (kind) => rules[list].ofEffect(kind) ?? [],
    );
    for (const { bare, patterned } of [...groups[list], ...others]) {
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
  const verdicts: Verdict[] =
    around === undefined ? [] : [{ decision: askOrDeny(settings.mode), cause, what, why: around, effect }];
  for (const command of commands) verdicts.push(judgeSimple(command, groups, effect, settings));
  if (verdicts.length > 0) return verdicts;
  return [{ decision: "allow", cause, what, why: "it runs nothing", effect }];
}

/** Why the line's surroundings could change what its commands do. */
function whatIsAround(line: Line, { roots }: Settings): string | undefined {
  const { effect, commands, directories } = line;
  if (directories === undefined) return "it changes the working directory in a way that cannot be followed";
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
function dashedName({ commands, directories = [], changes, budget }: Line): string | undefined {
  for (const { words, patterns = [], reads } of commands) {
    const end = words.includes("--") ? words.indexOf("--") : words.length;
    const open = patterns.filter((at) => at > 0 && at < end && mayBeginWithDash.test(words[at] ?? ""));
    if (open.length === 0 || dataPlaces(words)(open[0] ?? 0)) continue;
    if (typeof reads !== "string" && reads.paths.length === 0 && reads.contents === undefined) continue;
    const made = changes ? commands.flatMap((one) => one.words).find((word) => word.includes("/-")) : undefined;
    if (made !== undefined) return made;
    for (const directory of directories) {
      const names = open.flatMap((at) => expandPattern(directory, words[at] ?? "", budget));
      const found = names.find((name) => name.startsWith("-"));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function judgeSimple(command: LineCommand, groups: Groups, effect: ToolEffect, settings: Settings): Verdict {
  const { mode } = settings;
  const { text, words, reads, uncovered } = command;
  const what = `run: ${oneLine(text)}`;
  const cause: Cause = { by: "mode", mode };
  const ofCommand = { what, effect, command: text };
  const allow = (why: string): Verdict => ({ decision: "allow", cause, why, ...ofCommand });
  if (isPlainChange(words)) return allow("it only changes the working directory");
  if (typeof reads !== "string") return allow(words.length === 0 ? "it only sets variables" : "it only reads");
  if (mode === "read-only") {
    const why = `the mode read-only allows read-only commands alone${because(reads)}`;
    return { decision: "deny", cause, why, ...ofCommand };
  }
  const rule = coveringCommandRule(groups.allow, command);
  if (rule) return { ...byRule("allow", rule.text, what, effect), command: text };
  return { decision: "ask", cause, why: `no rule allows it${because(uncovered?.why ?? reads)}`, ...ofCommand };
}

function because(why: string): string {
  return ` (${plainReason(why)})`;
}

/** A sentence as a clause. */
function plainReason(sentence: string): string {
  const clause = sentence.replace(/\.$/, "");
  return oneLine(/^(?:It|A|An|The) /.test(clause) ? clause.charAt(0).toLowerCase() + clause.slice(1) : clause, 200);
}
