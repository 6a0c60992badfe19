import type { ToolEffect } from "@toolcrib/core";
import { describeEffect } from "../describe.ts";
import { bareRule, type RuleGroup } from "../rules/compileRules.ts";
import type { Rule } from "../rules/parseRule.ts";
import type { Settings } from "../settings.ts";
import { byMode, byRule, type Verdict } from "../verdict.ts";
import type { Groups } from "./judgeFile.ts";

/** Judges the use of a host. No mode but `full` lets a call reach the network by itself. */
export function judgeNetwork(effect: ToolEffect, groups: Groups, { mode, scope }: Settings): Verdict {
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
