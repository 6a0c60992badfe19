import { isToolError, ToolError } from "./errors.ts";
import type { Middleware, ToolCall, ToolOutcome } from "./interface.ts";
import { fromReturned, fromThrown } from "./outcome.ts";
import { clip, limitBytes } from "./text.ts";

/** Runs `call` through the middlewares, the first one outermost, and `last` inside them all. Never rejects. */
export async function runThrough(
  middlewares: readonly Middleware[],
  call: ToolCall,
  last: (call: ToolCall) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const from = async (index: number, current: ToolCall): Promise<ToolOutcome> => {
    const middleware = middlewares[index];
    if (!middleware) return last(current);
    try {
      return asOutcome(call.name, await middleware(current, (changed) => from(index + 1, changed ?? current)));
    } catch (thrown) {
      return { ok: false, error: fromThrown(call.name, thrown) };
    }
  };
  return from(0, call);
}

/** Whatever a middleware returned, as an outcome of the promised types. Throws for nothing at all. */
function asOutcome(name: string, result: ToolOutcome | string | undefined): ToolOutcome {
  if (result === undefined)
    throw new TypeError("a middleware returned nothing: it returns what next() gave, or a string");
  if (typeof result !== "object" || result === null) return fromReturned(result);
  if (result.ok === true && "output" in result) {
    return typeof result.output === "string" ? result : { ...result, ...fromReturned(result.output) };
  }
  if (result.ok === false && "error" in result) {
    const { error } = result;
    const isTyped = isToolError(error) && typeof error.code === "string" && typeof error.message === "string";
    return isTyped ? result : { ...result, error: fromThrown(name, error) };
  }
  return fromReturned(result);
}

/** `true` allows; `false` denies; a string denies with that reason, which the model reads. */
export type Approval = boolean | string;

/**
 * Middleware that asks before a call runs. A denied call ends with `permission_denied`. Calls that cannot run anyway
 * (unknown, disabled, invalid arguments) are not asked about: they end here. While `decide` waits, the time limit does not run.
 */
export function approval(decide: (call: ToolCall) => Approval | Promise<Approval>): Middleware {
  if (typeof decide !== "function")
    throw new TypeError("approval expects a function: (call) => true, false or a reason");
  return async (call, next) => {
    // Not next(): what runs behind may wait, or mend the call, and then it would run unasked.
    if (call.refusal) return { ok: false, error: call.refusal };
    const decision = await decide(call);
    if (decision === true) return next();
    const reason = typeof decision === "string" && decision !== "" ? decision : "this call was not approved";
    const message = `Permission denied: ${clip(reason, 1000)}`;
    return {
      ok: false,
      error: new ToolError({ code: "permission_denied", toolName: call.name, message, recoverable: false }),
    };
  };
}

/**
 * Middleware that keeps each successful output to `bytes` of UTF-8: whole lines of its head (part of one where whole ones
 * would fill less than half) and a notice.
 */
export function limitOutput(bytes: number): Middleware {
  if (!(bytes > 0)) throw new RangeError(`limitOutput expects a number of bytes above 0, got ${bytes}`);
  return async (_call, next) => {
    const outcome = await next();
    if (!outcome.ok) return outcome;
    const output = limitBytes(outcome.output, bytes);
    return output === outcome.output ? outcome : { ...outcome, output };
  };
}
