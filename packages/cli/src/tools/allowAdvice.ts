import { relative, sep } from "node:path";
import type { PendingCall } from "@toolcrib/agent";
import type { AnyToolRegistry } from "@toolcrib/core";
import { oneLine } from "@toolcrib/core/internal";
import { isInside } from "@toolcrib/kit/files";
import { describeModelQuestion, questionOf } from "./approval.ts";
import type { Permissions } from "./permissions.ts";

type AskedCall = Pick<PendingCall, "name" | "args" | "question">;

/** Says in one line why a call was not run, and which flags would let it run, or that no rule does. */
export async function whyNotRun(call: AskedCall, registry: AnyToolRegistry, permissions: Permissions): Promise<string> {
  if (call.question.needs) return describeModelQuestion(call);
  const asked = oneLine(call.question.text, 600);
  return `Not run: ${asked}${/[.!?]$/.test(asked) ? "" : "."} ${await advice(call, registry, permissions)}`;
}

async function advice(call: AskedCall, registry: AnyToolRegistry, permissions: Permissions): Promise<string> {
  const { name } = call;
  const narrow = narrowRules(call, permissions.flags.remote?.roots ?? permissions.roots);
  if (await allows(narrow, call, registry, permissions)) return `${flagsOf(narrow)} allows exactly this.`;
  const cause = questionOf(call).decidedBy;
  if (cause?.by === "rule") return "Your own rule asks, and no --allow overrides it.";
  if (cause?.by === "mode" && (await allows([name], call, registry, permissions)))
    return `No narrow rule allows it; ${flagsOf([name])} allows every call of ${name}.`;
  return "No narrow rule allows it.";
}

/**
 * Tries the rules on the policy itself, so that the advice is never wrong: a rule with two spaces, say, cannot be shown, and so
 * does not hold.
 */
async function allows(
  rules: readonly string[],
  { name, args }: AskedCall,
  registry: AnyToolRegistry,
  permissions: Permissions,
): Promise<boolean> {
  const tool = registry.get(name);
  if (!tool || rules.length === 0) return false;
  try {
    return (await permissions.policyWith(rules).explain({ name, args, tool })).decision === "allow";
  } catch {
    // The target of the call cannot be written as a rule.
    return false;
  }
}

function narrowRules(call: AskedCall, roots: readonly string[]): string[] {
  const { effects = [], commands = [] } = questionOf(call);
  const what = [
    ...commands,
    ...effects.flatMap(({ path }) => (path === undefined ? [] : [pathPattern(path, roots)])),
    ...effects.flatMap(({ host }) => (host === undefined ? [] : [host])),
  ];
  // As they are shown: what is tried is what the user would pass.
  return [...new Set(what)].map((pattern) => oneLine(`${call.name}(${pattern})`, 2000));
}

function pathPattern(path: string, roots: readonly string[]): string {
  const root = roots.find((one) => isInside(one, path));
  const shown = root === undefined ? path : `./${relative(root, path)}`;
  return (sep === "\\" ? shown.replaceAll(sep, "/") : shown).replace(/[*?[\\]/g, "\\$&");
}

function flagsOf(rules: readonly string[]): string {
  return rules.map((rule) => `--allow '${rule.replaceAll("'", "'\\''")}'`).join(" ");
}
