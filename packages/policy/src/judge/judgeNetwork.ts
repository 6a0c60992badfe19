import type { ToolEffect } from "@toolcrib/core";
import { bareRule, type RuleGroup } from "../rules/compileRules.ts";
import type { Rule } from "../rules/parseRule.ts";
import type { Settings } from "../settings.ts";
import type { Verdict } from "../verdict.ts";
import { describeEffect } from "../words.ts";
import { byRule, type Groups } from "./judgeFile.ts";

/** Judges the use of a host. No mode but `full` lets a call reach the network by itself. */
export function judgeNetwork(effect: ToolEffect, groups: Groups, { mode, scope }: Settings): Verdict {
  const what = describeEffect(effect, scope);
  const denied = matchingRule(groups.deny, effect, true);
  if (denied) return byRule("deny", denied.text, what, effect);
  const cause = { by: "mode", mode } as const;
  if (mode === "read-only")
    return { decision: "deny", cause, what, why: "the mode read-only allows no use of the network", effect };
  const asked = matchingRule(groups.ask, effect, true);
  if (asked) return byRule("ask", asked.text, what, effect);
  const allowed = matchingRule(groups.allow, effect, false);
  if (allowed) return byRule("allow", allowed.text, what, effect);
  if (mode === "full") return { decision: "allow", cause, what, why: "the mode full allows it", effect };
  return { decision: "ask", cause, what, why: `the mode ${mode} asks before each use of the network`, effect };
}

/** With `wide`, a pattern that cannot be tested matches. */
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
