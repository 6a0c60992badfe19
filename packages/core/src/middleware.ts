import { isToolError, ToolError } from "./errors.ts";
import type { Middleware, ToolCall, ToolOutcome } from "./interface.ts";
import { fromReturned, fromThrown } from "./outcome.ts";
import { clip, withNotice } from "./text.ts";

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
 * Middleware that keeps each successful output to `bytes` of UTF-8: whole lines of its head (part of the line where the
 * first alone is longer) and a notice.
 */
export function limitOutput(bytes: number): Middleware {
  if (!(bytes > 0)) throw new RangeError(`limitOutput expects a number of bytes above 0, got ${bytes}`);
  return async (_call, next) => {
    const outcome = await next();
    if (!outcome.ok) return outcome;
    const total = Buffer.byteLength(outcome.output);
    if (total <= bytes) return outcome;
    const head = headWithin(outcome.output, bytes);
    const shown = Buffer.byteLength(head);
    return { ...outcome, output: withNotice(head, { shown, total, unit: "bytes" }) };
  };
}

function headWithin(text: string, bytes: number): string {
  // A UTF-16 unit is at least one byte, so no more units than bytes can be kept.
  const cut = Buffer.from(text.slice(0, bytes)).subarray(0, bytes);
  const lastLine = cut.lastIndexOf(10);
  return cut.toString("utf8", 0, lastLine > 0 ? lastLine + 1 : wholeCharacters(cut));
}

/** How many bytes at the head are whole characters: the last sequence may be cut. */
function wholeCharacters(bytes: Uint8Array): number {
  let start = bytes.length - 1;
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  const lead = bytes[start] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start + length <= bytes.length ? bytes.length : start;
}
