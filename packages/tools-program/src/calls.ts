import { type AnyToolRegistry, type ExecuteOptions, renderOutcome, type ToolOutcome } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import { clip } from "@toolcrib/core/text";
import { isReadOnly } from "./callable.ts";
import type { GuestCall, GuestResult } from "./engine/messages.ts";

/** Most bytes of what a call takes from a program, and of what it gives it. */
const mostBytes = 2 ** 20;
/** Characters of a call's arguments, and of its error, in the list of calls. */
const shownLength = 200;

/** A call that a program made, for the list of its calls. */
export interface CallRecord {
  readonly number: number;
  readonly name: string;
  /** JSON text, cut. */
  readonly args: string;
  readonly isReadOnly: boolean;
  /** `waiting`: not started, and never will be once the program has ended. */
  state: "waiting" | "running" | "ok" | "failed";
  error?: string;
}

/** The result that a program gets: a value, or an error with its code. */
export type CallAnswer = { readonly value: unknown } | { readonly message: string; readonly code: string };

export interface CallSettings {
  /** The registry that runs the calls. */
  readonly registry: AnyToolRegistry;
  /** The id of the program's own call; those of its calls are `OUTER:n`. */
  readonly outer: string;
  readonly options: Omit<ExecuteOptions, "callId" | "within">;
  readonly maxConcurrent: number;
  /** Returns why programs may not call a tool that the registry has. */
  readonly refusal: (name: string) => string | undefined;
  /** Answers a question about tools. */
  readonly lookUp: (name: string, args: unknown) => CallAnswer;
  readonly deliver: (results: readonly GuestResult[]) => void;
  readonly onStart: (record: CallRecord) => void;
}

/**
 * Runs the calls of one program by the registry, in the order in which it made them: neighbouring read-only ones side by side, up to
 * `maxConcurrent`, any other alone.
 */
export class ProgramCalls {
  readonly #settings: CallSettings;
  readonly #records: CallRecord[] = [];
  readonly #queue: (GuestCall & { readonly record: CallRecord })[] = [];
  readonly #running = new Set<CallRecord>();
  readonly #results: GuestResult[] = [];
  #flush: NodeJS.Immediate | undefined;
  #hasEnded = false;
  #onIdle: (() => void) | undefined;

  constructor(settings: CallSettings) {
    this.#settings = settings;
  }

  get records(): readonly CallRecord[] {
    return this.#records;
  }

  take(calls: readonly GuestCall[]): void {
    for (const call of calls) {
      if (call.number < 0) this.#answerLookUp(call);
      else this.#queue.push({ ...call, record: this.#recordOf(call) });
    }
    this.#startNext();
  }

  /** Lets no further result reach the program. Resolves once no call runs; those that wait are begun only if the program ended well. */
  end(isWell: boolean): Promise<void> {
    this.#hasEnded = true;
    clearImmediate(this.#flush);
    if (!isWell) this.#queue.length = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle = resolve;
    this.#startNext();
    return promise;
  }

  #recordOf({ number, name, args }: GuestCall): CallRecord {
    const record: CallRecord = {
      number,
      name,
      args: clip(args, shownLength),
      isReadOnly: isReadOnly(this.#settings.registry.get(name)),
      state: "waiting",
    };
    this.#records.push(record);
    return record;
  }

  #startNext(): void {
    for (let next = this.#queue[0]; next && this.#mayStart(next.record); next = this.#queue[0]) {
      this.#queue.shift();
      void this.#run(next, next.record);
    }
    if (this.#running.size === 0 && this.#queue.length === 0) this.#onIdle?.();
  }

  #mayStart(record: CallRecord): boolean {
    if (this.#running.size === 0) return true;
    const [one] = this.#running;
    return record.isReadOnly && one?.isReadOnly === true && this.#running.size < this.#settings.maxConcurrent;
  }

  async #run(call: GuestCall, record: CallRecord): Promise<void> {
    this.#running.add(record);
    record.state = "running";
    this.#settings.onStart(record);
    const answer = await this.#answer(call);
    this.#running.delete(record);
    record.state = "value" in answer ? "ok" : "failed";
    if ("message" in answer) record.error = clip(answer.message, shownLength);
    if (!this.#hasEnded) this.#deliver(call.number, answer);
    this.#startNext();
  }

  async #answer({ number, name, args: text }: GuestCall): Promise<CallAnswer> {
    const { registry, outer, options, refusal } = this.#settings;
    const refused = refusal(name);
    if (refused !== undefined) return { message: refused, code: "not_available" };
    const bytes = Buffer.byteLength(text);
    if (bytes > mostBytes)
      return failure(name, `Invalid arguments: they have ${bytes} bytes, a call of a program at most ${mostBytes}`);
    const args: unknown = attempt(() => JSON.parse(text));
    const outcome = await registry.invoke(name, args, { ...options, callId: `${outer}:${number}`, within: outer });
    return attempt(() => this.#read(name, outcome)) ?? failure(name, "its result cannot be read");
  }

  #read(name: string, outcome: ToolOutcome): CallAnswer {
    if (!outcome.ok) return { message: renderOutcome(name, outcome), code: outcome.error.code };
    if (this.#settings.registry.get(name)?.outputSchema !== undefined) {
      if (outcome.data !== undefined) return { value: outcome.data };
      return failure(name, `it gave no data for a program, of at most ${mostBytes} bytes and as its outputSchema says`);
    }
    const bytes = Buffer.byteLength(outcome.output);
    if (bytes <= mostBytes) return { value: outcome.output };
    return failure(
      name,
      `its result has ${bytes} bytes, that of a call of a program at most ${mostBytes}: ask for less`,
    );
  }

  #answerLookUp({ number, name, args }: GuestCall): void {
    const given: unknown = attempt(() => JSON.parse(args));
    if (!this.#hasEnded) this.#deliver(number, this.#settings.lookUp(name, given));
  }

  /** Sends the results that come at one time together. */
  #deliver(number: number, answer: CallAnswer): void {
    const ok = "value" in answer;
    this.#results.push({ number, ok, text: JSON.stringify(ok ? answer.value : answer) });
    this.#flush ??= setImmediate(() => {
      this.#flush = undefined;
      this.#settings.deliver(this.#results.splice(0));
    });
  }
}

function failure(name: string, why: string): CallAnswer {
  return { message: `Error executing ${name}: ${why}`, code: "execution_failed" };
}
