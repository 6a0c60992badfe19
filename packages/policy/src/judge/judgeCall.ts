import { isAbsolute } from "node:path";
import type { GuardedCall, ToolEffect } from "@toolcrib/core";
import { isOnOtherShare } from "@toolcrib/kit/files";
import { describeEffect, oneLine } from "../describe.ts";
import { bareRule, type Groups, type RuleGroup, type RuleList } from "../rules/compileRules.ts";
import type { Rule } from "../rules/parseRule.ts";
import type { Settings } from "../settings.ts";
import { byMode, byRule, notTold, type Verdict } from "../verdict.ts";
import { isSeen } from "./folders.ts";
import { judgeFile, judgeNewNames } from "./judgeFile.ts";
import { judgeUndeclared } from "./judgeUndeclared.ts";
import { Looks } from "./looks.ts";

const mostEffects = 1000;
/** Matching takes time in proportion to the length of paths. */
const mostCharacters = 200_000;

/** Judges each thing that a call would do; the strictest verdict decides the call. At least one. */
export async function judgeCall(call: GuardedCall, settings: Settings): Promise<readonly [Verdict, ...Verdict[]]> {
  const { effects } = call;
  const [first, ...more] = effects ?? [];
  if (first === undefined) return [judgeUndeclared(call, settings)];
  if (more.length >= mostEffects) return [unjudged(`it does more than ${mostEffects} things`, settings)];
  const all = [first, ...more];
  let characters = 0;
  let runs = false;
  for (const { kind, path = "", givenPath = "", host = "" } of all) {
    characters += path.length + givenPath.length + host.length;
    runs ||= kind === "execute";
  }
  if (characters > mostCharacters) return [unjudged("the paths in it are too long to judge", settings)];
  const looks = new Looks();
  const commands = runs ? await loadCommands() : undefined;
  const verdicts: Verdict[] = [];
  for (const effect of all) verdicts.push(...judgeEffect(effect, call, settings, looks, commands));
  if (more.length > 0) verdicts.push(...judgeMoved(all, call, settings, looks));
  const [verdict = unjudged("nothing is known about it", settings), ...others] = verdicts;
  return [verdict, ...others];
}

type Commands = typeof import("./judgeCommand.ts");

/** Kept, as an `import()` looks its module up anew each time. */
let commandJudge: Promise<Commands> | undefined;

/** Loads what judges commands with the first of them: the grammar of the shell and the tables of programs take longer to load than all the rest. */
async function loadCommands(): Promise<Commands> {
  commandJudge ??= import("./judgeCommand.ts").catch((error: unknown) => {
    // Such as too many open files: the next command tries again.
    commandJudge = undefined;
    throw error;
  });
  return await commandJudge;
}

/** Judges what a call that takes a folder, or a link to one, may put at other paths: they get names that its effects do not show. */
function judgeMoved(effects: readonly ToolEffect[], call: GuardedCall, settings: Settings, looks: Looks): Verdict[] {
  const isHere = (effect: ToolEffect): boolean => effect.path !== undefined && isSeen(effect, settings);
  const written = effects.filter((effect) => effect.kind === "write" && isHere(effect));
  const taken = written.length === 0 ? [] : effects.filter((effect) => effect.kind === "read" && isHere(effect));
  const verdicts: Verdict[] = [];
  for (const { path: source = "" } of taken) {
    for (const effect of written) {
      const { path = "" } = effect;
      if (path === source || settings.protectedPaths.match(path) !== undefined) continue;
      const groups = groupsOf(effect, call, settings);
      for (const folder of looks.foldersOf(source, [path]))
        verdicts.push(...judgeNewNames(folder, effect, call.origin, groups, settings, looks));
    }
  }
  return verdicts;
}

function judgeEffect(
  effect: ToolEffect,
  call: GuardedCall,
  settings: Settings,
  looks: Looks,
  commands: Commands | undefined,
): readonly Verdict[] {
  const { remote } = effect;
  if (remote === undefined) return judgeKind(effect, call, settings, looks, commands);
  // A folder there cannot be read: it may hold anything.
  const verdicts = judgeKind(effect, call, settings.elsewhere(remote), new Looks(0), commands);
  return verdicts.map((verdict) => ({ ...verdict, what: `${verdict.what} on ${oneLine(remote, 60)}` }));
}

function judgeKind(
  effect: ToolEffect,
  call: GuardedCall,
  settings: Settings,
  looks: Looks,
  commands: Commands | undefined,
): readonly Verdict[] {
  for (const path of [effect.path, effect.givenPath, effect.cwd])
    if (path !== undefined && !isAbsolute(path)) return [unjudged("a path in it is not absolute", settings)];
  const groups = groupsOf(effect, call, settings);
  switch (effect.kind) {
    case "read":
    case "write":
    case "delete":
      return [judgeFile(effect, call.origin, groups, settings, looks)];
    case "network":
      return [judgeNetwork(effect, groups, settings)];
    case "execute": {
      const { cwd = "", ...rest } = effect;
      const isElsewhere = isOnOtherShare(cwd, [...settings.roots, ...settings.readable]);
      const verdicts = commands?.judgeCommand(isElsewhere ? rest : effect, groups, settings, looks) ?? [];
      if (!isElsewhere) return verdicts;
      return [...verdicts, unjudged("it runs on another share, which is not looked at", settings)];
    }
    default:
      return [unjudged("it does something that this policy does not know", settings)];
  }
}

/** Judges the use of a host. No mode but `full` lets a call reach the network by itself. */
function judgeNetwork(effect: ToolEffect, groups: Groups, { mode, scope }: Settings): Verdict {
  const subject = { what: describeEffect(effect, scope), effect };
  const denied = matchingRule(groups.deny, effect, true);
  if (denied) return byRule("deny", denied.text, subject);
  if (mode === "read-only") return byMode("deny", mode, "the mode read-only allows no use of the network", subject);
  const asked = matchingRule(groups.ask, effect, true);
  if (asked) return byRule("ask", asked.text, subject);
  const allowed = matchingRule(groups.allow, effect, false);
  if (allowed) return byRule("allow", allowed.text, subject);
  if (mode === "full") return byMode("allow", mode, "the mode full allows it", subject);
  return byMode("ask", mode, `the mode ${mode} asks before each use of the network`, subject);
}

/** Finds a rule about the host. With `wide`, a pattern that cannot be tested matches. */
function matchingRule(groups: readonly RuleGroup[], { host }: ToolEffect, wide: boolean): Rule | undefined {
  const bare = bareRule(groups);
  if (bare) return bare;
  for (const { patterned, hosts, notOfHosts } of groups) {
    const found = host === undefined ? undefined : hosts.find(({ matches }) => matches(host))?.rule;
    if (found) return found;
    const untested = host === undefined ? patterned[0] : notOfHosts;
    if (wide && untested) return untested;
  }
  return undefined;
}

function groupsOf({ kind, input }: ToolEffect, { name, origin }: GuardedCall, { rules }: Settings): Groups {
  const of = (list: RuleList): readonly RuleGroup[] => {
    // Input for a running command is allowed by the tool's name alone.
    const ofEffect = list === rules.allow && input !== undefined ? undefined : list.ofEffect(kind);
    const ofTool = list.ofTool(name, origin);
    return ofEffect === undefined ? ofTool : [...ofTool, ofEffect];
  };
  return { allow: of(rules.allow), ask: of(rules.ask), deny: of(rules.deny) };
}

function unjudged(why: string, { mode }: Settings): Verdict {
  return notTold("effects", mode, why, { what: "do something" });
}
