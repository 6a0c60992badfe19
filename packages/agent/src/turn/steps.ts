import type { ExecutableTool } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import { interrupted } from "../conversation/conversation.ts";
import { frozenJson } from "../conversation/frozenJson.ts";
import { AgentError } from "../errors.ts";
import type { AgentEvent, ToolCallBlock, ToolMessage, Usage } from "../messages.ts";
import { abortedError, type RequestClock } from "../requestClock.ts";
import { EventQueue } from "./eventQueue.ts";
import type { Asked } from "./questions.ts";

/**
 * Runs the steps of an agent's turns, and may record what they resolve to, so that another process can go on with a turn: it makes an
 * agent of the same options and begins the same turn with a runner that holds the records.
 *
 * The steps: `reply:N`, the Nth reply of the model to this agent; `compact:N`, a summary by the model; `call:ID`, a call of a tool with
 * its guards; and before it, of a tool that is neither `readOnly` nor `idempotent`, `start:ID`, the claim to start that call. A call that
 * runs again after an answer has the next number behind its id: `call:ID:2`. Of a composite call the calls within it are the steps, in its
 * place: `program:ID` first, then `start:ID:N` and `call:ID:N` of the Nth call within it, and `end:ID`. `answers:N` holds the answers that `approve` or `onQuestions`
 * of the turn gave. One agent uses each name once, always in the same order:
 * calls side by side start at once, in their order, and no further step starts before all of them have ended.
 *
 * - What a step resolves to is JSON. What it rejects with is an AgentError, or an error of a tool registry that is not ours.
 * - A step that rejects with the code `aborted` was ended by the signal of the turn. It is not over, and nothing is to be recorded.
 * - A runner that waits before it calls `fn` goes by the signal of the turn itself: the agent waits for the runner.
 * - `fn` is called at most once. A runner that can run a step in two processes lets one record win and resolves to that one in both.
 */
export interface StepRunner {
  /** Resolves to what `fn` resolves to; where a step of this name is recorded, to what was recorded, without calling `fn`. */
  run<T>(name: string, fn: () => Promise<T>): Promise<T>;
}

export interface Recorded<T> {
  readonly value: T;
  /** The result of its work here; undefined if it did not run here. */
  readonly own: T | undefined;
}

/** The steps of one agent: each name is used once. Without a runner none is recorded. */
export class Steps {
  readonly #runner: StepRunner | undefined;
  readonly #uses: Map<string, number> = new Map();

  constructor(runner: StepRunner | undefined) {
    this.#runner = runner;
  }

  get areRecorded(): boolean {
    return this.#runner !== undefined;
  }

  /** Counts how often `subject` has had a step, with this time. */
  count(subject: string): number {
    const uses = (this.#uses.get(subject) ?? 0) + 1;
    this.#uses.set(subject, uses);
    return uses;
  }

  /** Throws `bad_session` where the runner resolves to something else than any step resolves to. */
  async run<T extends object | string>(name: string, fn: () => Promise<T>): Promise<T> {
    if (!this.#runner) return fn();
    const value: unknown = await this.#runner.run(name, fn);
    if (typeof value === "string" || isObject(value)) return value as T;
    const received = value === null ? "null" : typeof value;
    throw new AgentError({
      code: "bad_session",
      message: `The runner of steps resolved ${name} to ${received}: run must resolve to what fn resolves to, or to the record of that.`,
    });
  }

  /** Runs `work` as the next step of a call, after a claim if it must not begin twice. It is told whether it may have begun before. */
  async runCall<T extends object>(
    kind: "call" | "end",
    id: string,
    once: boolean,
    work: (mayHaveRun: boolean) => Promise<T>,
  ): Promise<T> {
    const uses = this.count(`${kind}:${id}`);
    const key = uses === 1 ? id : `${id}:${uses}`;
    let mayRun = !once || (await claimStart(this, key));
    return this.run(`${kind}:${key}`, () => {
      const mayHaveRun = !mayRun;
      // A claim is good for one start.
      mayRun = !once;
      return work(mayHaveRun);
    });
  }

  /** Runs `work` as the next step of its kind, and yields its events. Where the caller leaves the stream, the work ends first. */
  async *next<T extends object>(
    kind: "reply" | "compact",
    work: () => AsyncGenerator<AgentEvent, T>,
    clock: RequestClock,
  ): AsyncGenerator<AgentEvent, Recorded<T>> {
    if (!this.#runner) {
      const value = yield* work();
      return { value, own: value };
    }
    const events = new EventQueue();
    let running: Promise<T> | undefined;
    let isRunning = false;
    let own: T | undefined;
    const step = this.run(`${kind}:${this.count(kind)}`, async () => {
      running = events.readAll(work());
      isRunning = true;
      own = await running.finally(() => {
        isRunning = false;
      });
      return own;
    });
    let hasEnded = false;
    try {
      const value = yield* events.until(step);
      hasEnded = true;
      return { value, own };
    } catch (error) {
      // The turn may go on after a failure of the work, also one that is recorded.
      hasEnded = !isRunning;
      throw error;
    } finally {
      // The caller has left, or the runner has failed while the work still runs.
      if (!hasEnded) {
        clock.abort();
        await Promise.allSettled([step, running]);
      }
    }
  }
}

/** The end of a call: with its result, or with a question. The step of a call is recorded as this. */
export type CallEnd =
  | { readonly result: ToolMessage; readonly data?: unknown; readonly usage?: Usage; readonly asked?: undefined }
  | { readonly asked: Asked; readonly usage?: Usage; readonly result?: undefined };

type ToolLookup = { get(name: string): ExecutableTool | undefined };

/** Resolves to how a call ended, as recorded; where the runner fails, to how it ended here, so that history does not say it never ran. `onFailure`: called at once. */
export async function runCallSteps(
  kind: "call" | "end",
  call: ToolCallBlock,
  { tools, clock, steps }: { readonly tools: ToolLookup; readonly clock: RequestClock; readonly steps: Steps },
  execute: () => Promise<CallEnd>,
  onFailure: (error: unknown) => void,
): Promise<CallEnd | undefined> {
  const { signal } = clock;
  if (!steps.areRecorded) return execute();
  const once = kind === "call" && !mayRunTwice(tools, call.name);
  let own: CallEnd | undefined;
  let running: Promise<CallEnd> | undefined;
  try {
    const end = await steps.runCall(kind, call.id, once, async (mayHaveRun): Promise<CallEnd> => {
      if (mayHaveRun) return { result: interrupted(call) };
      running = execute();
      own = await running;
      if (signal.aborted && own.result?.isError !== false) throw abortedError(signal);
      return own;
    });
    return end === own ? end : frozenJson(end);
  } catch (error) {
    // An abort ends the turn by itself.
    if (!(signal.aborted && running)) onFailure(error);
    return await running;
  }
}

/** Returns whether a second run does no harm. An unknown tool does nothing at all. */
function mayRunTwice(tools: ToolLookup, name: string): boolean {
  // If its getter throws, the tool does not state it.
  const isStated = attempt(() => {
    const tool = tools.get(name);
    return !tool || tool.readOnly === true || tool.idempotent === true;
  });
  return isStated === true;
}

/**
 * Returns whether this process may start the call. The record is the claim: its value is a token of the attempt that has written it. A token of
 * another says that the call was started before, here or elsewhere. Before the guards decide, as no step may run inside another.
 */
async function claimStart(steps: Steps, key: string): Promise<boolean> {
  let token: string | undefined;
  const recorded = await steps.run(`start:${key}`, async () => {
    token ??= crypto.randomUUID();
    return token;
  });
  return token !== undefined && recorded === token;
}
