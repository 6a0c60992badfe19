import type { ToolEffect } from "@toolcrib/core";
import { originWithin } from "@toolcrib/core/internal";
import { isInside } from "@toolcrib/kit/files";
import type { RuleGroup } from "../rules/compileRules.ts";
import type { Settings } from "../settings.ts";
import type { Decision, Verdict } from "../verdict.ts";
import { describeEffect } from "../words.ts";
import type { Budget } from "./budget.ts";
import { bindingRule, coveringRule, outrightRule, protectedIn } from "./matchPaths.ts";

/** The groups of rules, of each list, that bind an effect. */
export type Groups = Readonly<Record<Decision, readonly RuleGroup[]>>;

const packOrigin = /^@toolcrib\/tools-/;
/** Of the tool that saves the session of an agent, to a path that the program chose, not the model. */
const ownOrigin = "@toolcrib/agent";
const none: ReadonlySet<string> = new Set();

/** Judges a read, a write or a delete. Deny wins over ask, ask over allow, and rules over the mode. The budget is for what lies below. */
export async function judgeFile(
  effect: ToolEffect,
  origin: string,
  groups: Groups,
  settings: Settings,
  budget: Budget,
): Promise<Verdict> {
  const { mode, scope } = settings;
  const what = describeEffect(effect, scope);
  const pack = effect.remote === undefined ? origin : originWithin(effect.remote, origin);
  const leftOut = pack !== undefined && packOrigin.test(pack) ? settings.denied : none;
  const denied = await bindingRule(groups.deny, effect, leftOut, budget);
  if (denied) return byRule("deny", denied.rule.text, whatOf(what, denied, settings), effect);

  const freely = isFree(effect, settings);
  if (mode === "read-only" && !freely) {
    return {
      decision: "deny",
      cause: { by: "mode", mode },
      what,
      why: `the mode read-only allows ${limits(effect)}`,
      effect,
    };
  }
  const asked = await bindingRule(groups.ask, effect, leftOut, budget);
  if (asked) return byRule("ask", asked.rule.text, whatOf(what, asked, settings), effect);

  if (effect.kind !== "read" && origin !== ownOrigin) {
    const verdict = await judgeProtected(effect, what, groups.allow, settings, budget);
    if (verdict) return verdict;
  }
  const allowed = coveringRule(groups.allow, effect);
  if (allowed) return byRule("allow", allowed.text, what, effect);
  const cause = { by: "mode", mode } as const;
  return freely
    ? { decision: "allow", cause, what, why: `the mode ${mode} allows it`, effect }
    : { decision: "ask", cause, what, why: askedBecause(effect, settings), effect };
}

export function byRule(list: Decision, rule: string, what: string, effect?: ToolEffect): Verdict {
  const verb = { allow: "allows it", ask: "asks before it", deny: "denies it" }[list];
  return { decision: list, cause: { by: "rule", list, rule }, what, why: `the rule ${rule} ${verb}`, effect };
}

function whatOf(
  what: string,
  binding: { below?: string | undefined; uncertain?: boolean | undefined },
  { scope }: Settings,
): string {
  if (binding.below !== undefined) return `${what}, which holds ${scope.print(binding.below)}`;
  return binding.uncertain ? `${what}, which holds more than can be looked through` : what;
}

/** Returns whether the mode alone lets the effect happen. */
function isFree({ kind, path }: ToolEffect, { mode, roots, readable }: Settings): boolean {
  if (mode === "full") return true;
  if (path === undefined) return false;
  const inside = roots.some((root) => isInside(root, path));
  if (kind === "read") return inside || readable.some((folder) => isInside(folder, path));
  return mode === "accept-edits" && inside;
}

async function judgeProtected(
  effect: ToolEffect,
  what: string,
  allow: readonly RuleGroup[],
  settings: Settings,
  budget: Budget,
): Promise<Verdict | undefined> {
  const found = await protectedIn(effect, settings.protectedPaths, budget);
  if (found === undefined) return undefined;
  if (found === "uncertain") {
    const why = "it holds more than can be looked through for protected paths";
    return { decision: "ask", cause: { by: "protected", pattern: "" }, what, why, effect };
  }
  const { entry, below } = found;
  const rule = outrightRule(allow, below ?? effect.path ?? "", entry, settings.protectedPaths, settings.places);
  if (rule && below === undefined) return byRule("allow", rule.text, what, effect);
  const named = below === undefined ? "it" : settings.scope.print(below);
  const why = `${named} is protected (${entry.pattern}): ${entry.why}`;
  return { decision: "ask", cause: { by: "protected", pattern: entry.pattern }, what, why, effect };
}

function limits({ kind }: ToolEffect): string {
  return kind === "read" ? "reads inside the roots alone" : "no changes";
}

function askedBecause({ kind, path }: ToolEffect, { mode, roots }: Settings): string {
  if (path === undefined) return "it does not say which path";
  if (!roots.some((root) => isInside(root, path))) return "it is outside the roots";
  return `the mode ${mode} asks before each ${kind === "delete" ? "deletion" : "change"}`;
}
