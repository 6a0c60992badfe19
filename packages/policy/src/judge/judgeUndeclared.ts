import { type GuardedCall, isToolError } from "@toolcrib/core";
import { bareRule, kindsWithRules, type RuleGroup } from "../rules/compileRules.ts";
import type { EffectKind, Rule } from "../rules/parseRule.ts";
import type { Settings } from "../settings.ts";
import { askOrDeny, type Verdict } from "../verdict.ts";
import { oneLine } from "../words.ts";
import { byRule } from "./judgeFile.ts";

/** Judges a call of which no effect is known: the tool declares none, says that there are none, or could not tell. */
export function judgeUndeclared(call: GuardedCall, settings: Settings): Verdict {
  const { name, origin, effects } = call;
  const { mode, rules } = settings;
  const what = "run";
  const denied = ruleOfTool(rules.deny.ofTool(name, origin));
  if (denied) return byRule("deny", denied.text, what);
  const failed = call.effectsError === undefined ? undefined : judgeFailure(call.effectsError, what, settings);
  if (failed?.decision === "deny") return failed;
  const asked = ruleOfTool(rules.ask.ofTool(name, origin));
  if (asked && (mode !== "read-only" || isReadOnly(call))) return byRule("ask", asked.text, what);
  if (failed) return failed;
  const cause = { by: "mode", mode } as const;
  if (effects !== undefined) return { decision: "allow", cause, what, why: "it does nothing that a policy is about" };
  return judgeTraits(call, what, settings);
}

/** The rule that binds a tool whatever it does. A pattern that cannot be tested binds too. */
function ruleOfTool(groups: readonly RuleGroup[]): Rule | undefined {
  return bareRule(groups) ?? groups.find(({ patterned }) => patterned.length > 0)?.patterned[0];
}

/** Denies what a tool refuses itself, in its words; any other failure leaves its effects unknown. */
function judgeFailure(error: unknown, what: string, { mode }: Settings): Verdict {
  const cause = { by: "effects" } as const;
  if (isToolError(error) && (error.code === "permission_denied" || error.code === "invalid_arguments")) {
    return {
      decision: "deny",
      cause,
      what,
      why: oneLine(String(error.message).replace(/^Permission denied: /, ""), 600),
    };
  }
  return {
    decision: askOrDeny(mode),
    cause,
    what,
    why: "the tool could not say what it would do",
  };
}

/** Traits are facts: what a mounted server merely claims is listed as hints. */
function judgeTraits(call: GuardedCall, what: string, { mode, rules }: Settings): Verdict {
  const { name, origin } = call;
  const cause = { by: "mode", mode } as const;
  const readOnly = isReadOnly(call);
  if (mode === "read-only" && !readOnly) {
    return {
      decision: "deny",
      cause,
      what,
      why: "the mode read-only allows tools alone that are known to change nothing",
    };
  }
  const allowed = bareRule(rules.allow.ofTool(name, origin));
  for (const list of allowed ? [] : ([rules.deny, rules.ask] as const)) {
    const kind = kindsWithRules(list).find((one) => mayDo(one, readOnly));
    const rule = kind === undefined ? undefined : ruleOfTool([list.ofEffect(kind)].flatMap((group) => group ?? []));
    if (!rule) continue;
    const why = `the tool does not say what it does, so it may do what the rule ${rule.text} is about`;
    return { decision: "ask", cause: { by: "rule", list: list.list, rule: rule.text }, what, why };
  }
  if (allowed) return byRule("allow", allowed.text, what);
  if (mode === "full") return { decision: "allow", cause, what, why: "the mode full allows it" };
  if (readOnly) return { decision: "allow", cause, what, why: "the tool changes nothing" };
  return { decision: "ask", cause, what, why: "the tool does not say what it does" };
}

/** Returns whether a call only reads. A tool that reaches beyond this machine sends data there, whatever it changes. */
function isReadOnly({ tool }: GuardedCall): boolean {
  return tool.readOnly === true && tool.openWorld !== true;
}

function mayDo(kind: EffectKind, readOnly: boolean): boolean {
  return !readOnly || kind === "read";
}
