import { type GuardedCall, isToolError } from "@toolcrib/core";
import { isObject } from "@toolcrib/core/text";
import { serverPrefix } from "@toolcrib/kit/text";
import { oneLine } from "../describe.ts";
import { bareRule, type RuleGroup, type RuleList } from "../rules/compileRules.ts";
import { effectKinds, type Rule } from "../rules/parseRule.ts";
import type { Settings } from "../settings.ts";
import { byMode, byRule, notTold, type Subject, type Verdict } from "../verdict.ts";

const subject: Subject = { what: "run" };

/** Judges a call of which no effect is known: the tool declares none, says that there are none, or could not tell. */
export function judgeUndeclared(call: GuardedCall, settings: Settings): Verdict {
  const { effects } = call;
  const { mode, rules } = settings;
  const denied = ruleOfTool(groupsOf(call, rules.deny));
  if (denied) return byRule("deny", denied.text, subject);
  const failed = call.effectsError === undefined ? undefined : judgeFailure(call.effectsError, settings);
  if (failed?.decision === "deny") return failed;
  const asked = ruleOfTool(groupsOf(call, rules.ask));
  if (asked && (mode !== "read-only" || isReadOnly(call))) return byRule("ask", asked.text, subject);
  if (failed) return failed;
  if (effects !== undefined) return byMode("allow", mode, "it does nothing that a policy decides about", subject);
  return judgeTraits(call, settings);
}

/** Finds the groups that bind a call: those of the tool, and those of the servers whose resources it reads. */
function groupsOf({ name, origin, args, tool }: GuardedCall, list: RuleList): RuleGroup[] {
  const own = list.ofTool(name, origin);
  if (origin !== "@toolcrib/mcp") return [...own];
  const { properties } = tool.getSchema().function.parameters;
  const { enum: all } = isObject(properties) && isObject(properties.server) ? properties.server : {};
  const { server = all } = args;
  const servers: readonly unknown[] = Array.isArray(server) ? server : [server];
  return [...own, ...servers.flatMap((one) => list.ofTool(serverPrefix(String(one)), origin))];
}

/** Finds the rule that binds a tool whatever it does. A pattern that cannot be tested binds too. */
function ruleOfTool(groups: readonly RuleGroup[]): Rule | undefined {
  return bareRule(groups) ?? groups.find(({ patterned }) => patterned.length > 0)?.patterned[0];
}

/** Denies what a tool refuses itself, in its words; any other failure leaves its effects unknown. */
function judgeFailure(error: unknown, { mode }: Settings): Verdict {
  const failed = notTold("effects", mode, "the tool could not say what it would do", subject);
  if (!isToolError(error) || (error.code !== "permission_denied" && error.code !== "invalid_arguments")) return failed;
  const why = oneLine(String(error.message).replace(/^Permission denied: /, ""), 600);
  return { ...failed, decision: "deny", why };
}

/** Judges a tool by its traits, which are facts: what a mounted server merely claims is listed as hints. */
function judgeTraits(call: GuardedCall, { mode, rules }: Settings): Verdict {
  const { name, origin } = call;
  const readOnly = isReadOnly(call);
  if (mode === "read-only" && !readOnly)
    return byMode("deny", mode, "the mode read-only allows only tools that are known to change nothing", subject);
  const allowed = bareRule(rules.allow.ofTool(name, origin));
  for (const list of allowed ? [] : ([rules.deny, rules.ask] as const)) {
    const kinds = readOnly ? (["read"] as const) : effectKinds;
    const rule = ruleOfTool(kinds.flatMap((kind) => list.ofEffect(kind) ?? []).slice(0, 1));
    if (!rule) continue;
    const why = `the tool does not say what it does, so it may do what the rule ${rule.text} is about`;
    return { ...byRule(list.list, rule.text, subject), decision: "ask", why };
  }
  if (allowed) return byRule("allow", allowed.text, subject);
  if (mode === "full") return byMode("allow", mode, "the mode full allows it", subject);
  if (readOnly) return byMode("allow", mode, "the tool changes nothing", subject);
  return byMode("ask", mode, "the tool does not say what it does", subject);
}

/** Returns whether a call only reads. A tool that reaches beyond this machine sends data there, whatever it changes. */
function isReadOnly({ tool }: GuardedCall): boolean {
  return tool.readOnly === true && tool.openWorld !== true;
}
