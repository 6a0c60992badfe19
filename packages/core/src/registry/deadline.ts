import type { ExecutableTool, ToolCallInfo, ToolOutcome } from "../interface.ts";
import { aborted, fromReturned, fromThrown, timedOut } from "./outcome.ts";

/** setTimeout fires at once beyond this many milliseconds. */
export const longestDelayMs: number = 2 ** 31 - 1;

export interface RunCall extends Pick<ToolCallInfo, "signal" | "callId" | "onProgress" | "labels"> {
  /** The tool's name as registered: the tool's own may have changed since. */
  readonly name: string;
  /** Called when the tool begins a change that cannot be taken back. */
  readonly onCommit?: () => void;
}

/**
 * Runs a tool against its time limit and the caller's signal, whichever ends first. Never rejects; what the tool does after
 * the end (a late result, a late rejection) is swallowed, and the timer never outlives the call.
 */
export function runWithDeadline(
  tool: ExecutableTool,
  args: Record<string, unknown>,
  call: RunCall,
  timeoutMs: number,
): Promise<ToolOutcome> {
  return new Promise((resolve) => {
    const run = new Run(call);
    const onAbort = (): void => {
      const reason: unknown = call.signal?.reason;
      finish({ ok: false, error: aborted(call.name, reason, run.committed) }, reason);
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
    settle(
      () => tool.execute(args, run.info),
      (value) => finish(fromReturned(value)),
      (error) => finish({ ok: false, error: fromThrown(call.name, error) }),
    );
  });
}

/** What one run shares with its tool. The signal is made only when the tool asks for it: most never do. */
class Run {
  ended = false;
  committed = false;
  readonly info: ToolCallInfo;
  #controller: AbortController | undefined;
  #reason: unknown;

  constructor(call: RunCall) {
    this.info = new CallInfo(this, call);
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
  /** One getter for all: a property of its own, so that a spread copy of the call has it, at a third of a microsecond. */
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
  readonly #run: Run;

  constructor(run: Run, { callId, labels, onProgress, onCommit }: RunCall) {
    this.#run = run;
    this.callId = callId;
    this.labels = labels;
    this.onProgress = (progress) => {
      if (!run.ended && onProgress) tell(() => onProgress(progress));
    };
    this.beginCommit = () => {
      if (run.ended) throw new Error("the call has ended; nothing was changed");
      run.committed = true;
      onCommit?.();
    };
    Object.defineProperty(this, "signal", CallInfo.#signal);
  }
}

/** Calls a listener and drops what it throws or rejects with: a listener's failure is nobody else's. */
export function tell(listener: () => unknown): void {
  const drop = (): void => undefined;
  settle(listener, drop, drop);
}

/** A thenable that resolves to thenables for ever would spin the microtask queue; only this many are followed. */
const mostThenables = 10;

/**
 * Calls `start` and reports how it ends, once, whatever it returns or throws. Unlike `await`, a foreign thenable is asked
 * only a bounded number of times.
 */
export function settle(
  start: () => unknown,
  onValue: (value: unknown) => void,
  onError: (error: unknown) => void,
  level = 0,
): void {
  let settled = false;
  const once =
    (then: (value: unknown) => void) =>
    (value: unknown): void => {
      if (settled) return;
      settled = true;
      then(value);
    };
  const fail = once(onError);
  try {
    const value = start();
    if (value instanceof Promise) {
      void Promise.prototype.then.call(value, once(onValue), fail);
      return;
    }
    if ((typeof value === "object" && value !== null) || typeof value === "function") {
      const { then } = value as { then?: unknown };
      if (typeof then === "function") {
        if (level >= mostThenables) throw new Error("the result is a promise of promises without end");
        then.call(
          value,
          once((inner) => settle(() => inner, onValue, onError, level + 1)),
          fail,
        );
        return;
      }
    }
    once(onValue)(value);
  } catch (error) {
    fail(error);
  }
}
