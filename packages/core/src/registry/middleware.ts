import { isToolError } from "../errors.ts";
import type { Middleware, ToolCall, ToolOutcome } from "../interface.ts";
import { checkValues, option } from "../options.ts";
import { limitBytes } from "../text/cut.ts";
import { fromReturned, fromThrown } from "./outcome.ts";

/** Runs `call` through the middlewares, the first one outermost, and `last` inside them all. Rejects only where `last` does. */
export function runThrough(
  middlewares: readonly Middleware[],
  call: ToolCall,
  last: (call: ToolCall) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const from = (index: number, current: ToolCall): Promise<ToolOutcome> => {
    const middleware = middlewares[index];
    if (!middleware) return last(current);
    const next = async (changed?: ToolCall): Promise<ToolOutcome> => from(index + 1, changed ?? current);
    return outcomeOf(call.name, () => middleware(current, next));
  };
  return from(0, call);
}

async function outcomeOf(name: string, run: () => Promise<ToolOutcome | string>): Promise<ToolOutcome> {
  try {
    return asOutcome(name, await run());
  } catch (thrown) {
    return { ok: false, error: fromThrown(name, thrown) };
  }
}

/** Reads whatever a middleware returned as an outcome of the promised types. Throws a TypeError where it returned nothing. */
function asOutcome(name: string, result: ToolOutcome | string | undefined): ToolOutcome {
  if (result === undefined)
    throw new TypeError("a middleware returned nothing; return the result of next(), or a string");
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

/**
 * Creates middleware that keeps each successful output to `bytes` of UTF-8: whole lines of its head (part of one where whole ones
 * would fill less than half) and a notice. What a program gets of a call within its own is left alone.
 */
export function limitOutput(bytes: number): Middleware {
  checkValues("limitOutput", { bytes }, { bytes: { ...option.bytes, needed: "always" } });
  return async ({ within }, next) => {
    const outcome = await next();
    if (!outcome.ok || within !== undefined) return outcome;
    const output = limitBytes(outcome.output, bytes);
    return output === outcome.output ? outcome : { ...outcome, output };
  };
}
