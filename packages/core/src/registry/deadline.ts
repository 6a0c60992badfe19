import { assimilate, attempt, callSafely } from "../foreign.ts";
import type { ExecutableTool, ToolCall, ToolCallInfo, ToolOutcome } from "../interface.ts";
import { aborted, fromReturned, fromThrown, timedOut } from "./outcome.ts";

/** setTimeout fires at once beyond this many milliseconds. */
export const longestDelayMs: number = 2 ** 31 - 1;

/** Milliseconds a tool may run where neither it nor the caller says otherwise. */
export const defaultTimeoutMs = 30_000;

/** Throws a RangeError unless the caller's limit is a positive number, or absent. */
export function checkLimit(fromCaller: number | undefined): void {
  if (fromCaller === undefined || fromCaller > 0) return;
  throw new RangeError(`timeoutMs must be a number of milliseconds above 0, at most ${longestDelayMs}, or Infinity`);
}

/** The caller's limit, else the tool's, else the default. Throws a RangeError unless the caller's is a positive number. */
export function limitOf(tool: ExecutableTool, args: Record<string, unknown>, fromCaller: number | undefined): number {
  checkLimit(fromCaller);
  if (fromCaller !== undefined) return fromCaller;
  const own = attempt(() => (typeof tool.timeoutMs === "function" ? tool.timeoutMs(args) : tool.timeoutMs));
  return typeof own === "number" && own > 0 ? own : defaultTimeoutMs;
}

/**
 * Runs a tool until it ends, its time limit passes or the caller's signal fires. Never rejects; what the tool does later (a late
 * result, a late rejection) is dropped, and the timer never outlives the call. `onCommit` is called when the tool begins a change
 * that cannot be taken back.
 */
export function runWithDeadline(
  tool: ExecutableTool,
  call: ToolCall,
  timeoutMs: number,
  onCommit: () => void,
): Promise<ToolOutcome> {
  return new Promise((resolve) => {
    const run = new ToolRun(call, onCommit);
    const onAbort = (): void => {
      const reason: unknown = call.signal?.reason;
      const error = aborted(call.name, reason, run.committed);
      // A signal of another make may give no reason.
      finish({ ok: false, error }, reason ?? error);
    };
    const finish = (outcome: ToolOutcome, reason?: unknown): void => {
      if (run.ended) return;
      run.ended = true;
      clearTimeout(timer);
      call.signal?.removeEventListener("abort", onAbort);
      resolve(outcome);
      if (reason !== undefined) run.abort(reason);
    };
    const timer =
      timeoutMs === Number.POSITIVE_INFINITY
        ? undefined
        : setTimeout(
            () => {
              const error = timedOut(call.name, timeoutMs, run.committed);
              finish({ ok: false, error }, error);
            },
            Math.min(timeoutMs, longestDelayMs),
          );
    if (call.signal?.aborted) {
      onAbort();
      return;
    }
    call.signal?.addEventListener("abort", onAbort, { once: true });
    assimilate(
      () => tool.execute(call.args, run.info),
      (value) => finish(fromReturned(value)),
      (error) => finish({ ok: false, error: fromThrown(call.name, error) }),
    );
  });
}

/** One run of a tool. Its signal is made when the tool first asks for it: most never do. */
class ToolRun {
  ended = false;
  committed = false;
  readonly info: ToolCallInfo;
  #controller: AbortController | undefined;
  #reason: unknown;

  constructor(call: ToolCall, onCommit: () => void) {
    this.info = new CallInfo(this, call, onCommit);
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

class CallInfo implements ToolCallInfo {
  /** An own property, so that a spread copy of the call has it; one getter shared by all calls, which saves 0.3 µs a call. */
  static readonly #signal = {
    enumerable: true,
    get(this: CallInfo): AbortSignal {
      return this.#run.signal;
    },
  };
  declare readonly signal: AbortSignal;
  readonly callId: string | undefined;
  readonly labels: ToolCallInfo["labels"];
  readonly onProgress: ToolCallInfo["onProgress"];
  readonly beginCommit: () => void;
  readonly #run: ToolRun;

  constructor(run: ToolRun, { callId, labels, onProgress }: ToolCall, onCommit: () => void) {
    this.#run = run;
    this.callId = callId;
    this.labels = labels;
    this.onProgress = (progress) => {
      if (!run.ended && onProgress) callSafely(() => onProgress(progress));
    };
    this.beginCommit = () => {
      if (run.ended) throw new Error("the call has ended; nothing was changed");
      run.committed = true;
      onCommit();
    };
    Object.defineProperty(this, "signal", CallInfo.#signal);
  }
}
