import type { ToolEffect } from "@toolcrib/core";
import { isInside } from "@toolcrib/kit/files";
import { originWithin } from "@toolcrib/kit/text";
import { describeEffect } from "../describe.ts";
import type { RuleGroup } from "../rules/compileRules.ts";
import type { Settings } from "../settings.ts";
import { byMode, byRule, type Decision, type Verdict } from "../verdict.ts";
import type { Budget } from "./budget.ts";
import { bindingRule, coveringRule, outrightRule, protectedIn } from "./matchPaths.ts";
import { judgeOwnState } from "./ownState.ts";

/** The groups of rules, of each list, that bind an effect. */
export type Groups = Readonly<Record<Decision, readonly RuleGroup[]>>;

const packOrigin = /^@toolcrib\/tools-/;
/** Of the tool that saves the session of an agent, to a path that the program chose, not the model. */
const ownOrigin = "@toolcrib/agent";
const none: ReadonlySet<string> = new Set();

/** Judges a read, a write or a delete. The budget is for what lies below. */
export async function judgeFile(
  effect: ToolEffect,
  origin: string,
  groups: Groups,
  settings: Settings,
  budget: Budget,
): Promise<Verdict> {
  const own = effect.kind === "read" ? undefined : judgeOwnState(effect, settings);
  if (own?.decision === "deny") return own;
  const verdict = await judgeByRules(effect, origin, groups, settings, budget);
  return own && verdict.decision === "allow" ? own : verdict;
}

/** Deny wins over ask, ask over allow, and rules over the mode. */
async function judgeByRules(
  effect: ToolEffect,
  origin: string,
  groups: Groups,
  settings: Settings,
  budget: Budget,
): Promise<Verdict> {
  const { mode, scope } = settings;
  const what = describeEffect(effect, scope);
  const subject = { what, effect };
  const pack = effect.remote === undefined ? origin : originWithin(effect.remote, origin);
  const leftOut = pack !== undefined && packOrigin.test(pack) ? settings.denied : none;
  const binding = async (list: "deny" | "ask"): Promise<Verdict | undefined> => {
    const found = await bindingRule(groups[list], effect, leftOut, budget);
    return found && byRule(list, found.rule.text, { effect, what: withBelow(what, found, settings) });
  };
  const denied = await binding("deny");
  if (denied) return denied;
  const isFree = mayByMode(effect, settings);
  if (mode === "read-only" && !isFree) {
    const limit = effect.kind === "read" ? "reads inside the roots alone" : "no changes";
    return byMode("deny", mode, `the mode read-only allows ${limit}`, subject);
  }
  const asked = await binding("ask");
  if (asked) return asked;
  if (effect.kind !== "read" && origin !== ownOrigin) {
    const verdict = await judgeProtected(effect, what, groups.allow, settings, budget);
    if (verdict) return verdict;
  }
  const allowed = coveringRule(groups.allow, effect);
  if (allowed) return byRule("allow", allowed.text, subject);
  if (isFree) return byMode("allow", mode, `the mode ${mode} allows it`, subject);
  return byMode("ask", mode, whyAsked(effect, settings), subject);
}

function withBelow(
  what: string,
  binding: { below?: string | undefined; uncertain?: boolean | undefined },
  { scope }: Settings,
): string {
  if (binding.below !== undefined) return `${what}, which holds ${scope.print(binding.below)}`;
  return binding.uncertain ? `${what}, which holds more than can be looked through` : what;
}

/** Returns whether the mode alone lets the effect happen. */
function mayByMode({ kind, path }: ToolEffect, { mode, roots, readable }: Settings): boolean {
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
  const { protectedPaths, bases, scope } = settings;
  const found = await protectedIn(effect, protectedPaths, budget);
  if (found === undefined) return undefined;
  if (found === "uncertain") {
    const why = "it holds more than can be looked through for protected paths";
    return { decision: "ask", cause: { by: "protected", pattern: "" }, what, why, effect };
  }
  const { entry, below } = found;
  const rule = outrightRule(allow, below ?? effect.path ?? "", entry, protectedPaths, bases);
  if (rule && below === undefined) return byRule("allow", rule.text, { what, effect });
  const named = below === undefined ? "it" : scope.print(below);
  const why = `${named} is protected (${entry.pattern}): ${entry.why}`;
  return { decision: "ask", cause: { by: "protected", pattern: entry.pattern }, what, why, effect };
}

function whyAsked({ kind, path }: ToolEffect, { mode, roots }: Settings): string {
  if (path === undefined) return "it does not say which path";
  if (!roots.some((root) => isInside(root, path))) return "it is outside the roots";
  return `the mode ${mode} asks before each ${kind === "delete" ? "deletion" : "change"}`;
}
