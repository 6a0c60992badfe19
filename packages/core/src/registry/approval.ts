import { ToolError } from "../errors.ts";
import type { ExecutableTool, Middleware, ToolCall } from "../interface.ts";
import { copyJson, isPlainObject } from "../json.ts";
import { clip } from "../text.ts";

/** `true` allows; `false` denies; a string denies with that reason, which the model reads. */
export type Approval = boolean | string;

/** What was asked about: the tool, and the arguments as they were then. */
interface Approved {
  readonly tool: ExecutableTool | undefined;
  readonly args: unknown;
}

/** By name, so that `approval` of another installed copy of the package is understood too. */
const approvedKey: unique symbol = Symbol.for("toolcrib.approved") as never;

/** The approvals given on the way to a tool: kept apart from the call, which a middleware may make anew. */
export type Approvals = readonly Approved[];

/** `before`, and the approval that the middleware which passes on `call` has just given, if it did. */
export function withApproval(before: Approvals, call: ToolCall | undefined): Approvals {
  const given = (call as { [approvedKey]?: Approved } | undefined)?.[approvedKey];
  return given === undefined || before.includes(given) ? before : [...before, given];
}

/** Why approvals do not hold for the tool and the arguments that would run, if they do not. */
export function voidApproval(
  approvals: Approvals,
  name: string,
  tool: ExecutableTool,
  args: unknown,
): ToolError | undefined {
  const broken = approvals.find((given) => given.tool !== tool || !isEqual(given.args, args));
  if (!broken) return undefined;
  const what = broken.tool === tool ? "its arguments were changed" : "the tool was replaced";
  const message = `Permission denied: ${what} after this call was approved, so the approval no longer holds; call again to ask anew`;
  return new ToolError({ code: "permission_denied", toolName: name, message });
}

/**
 * Middleware that asks before a call runs. A denied call ends with `permission_denied`. Calls that cannot run anyway
 * (unknown, disabled, invalid arguments) are not asked about: they end here. While `decide` waits, the time limit does not
 * run. A yes holds for the tool and the arguments asked about: where either is another when the tool would start, the call
 * ends with `permission_denied`.
 */
export function approval(decide: (call: ToolCall) => Approval | Promise<Approval>): Middleware {
  if (typeof decide !== "function")
    throw new TypeError("approval expects a function: (call) => true, false or a reason");
  return async (call, next) => {
    // Do not call next(): an inner middleware could still let the call run.
    if (call.refusal) return { ok: false, error: call.refusal };
    const asked: Approved = { tool: call.tool, args: copyJson(call.args) };
    const decision = await decide(call);
    if (decision === true) return next({ ...call, [approvedKey]: asked } as ToolCall);
    const reason = typeof decision === "string" && decision !== "" ? decision : "this call was not approved";
    const message = `Permission denied: ${clip(reason, 1000)}`;
    return {
      ok: false,
      error: new ToolError({ code: "permission_denied", toolName: call.name, message, recoverable: false }),
    };
  };
}

/** Equal as JSON, whatever the order of keys; other values (dates, functions) only when they are the same. */
function isEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isEqual(item, other[index]));
  }
  if (!isPlainObject(one) || !isPlainObject(other)) return false;
  const keys = (object: Record<string, unknown>): string[] =>
    Object.keys(object).filter((key) => object[key] !== undefined);
  const names = keys(one);
  return (
    names.length === keys(other).length &&
    names.every((key) => Object.hasOwn(other, key) && isEqual(one[key], other[key]))
  );
}
