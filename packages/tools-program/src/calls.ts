import {
  type AnyToolRegistry,
  type Approve,
  type ExecuteOptions,
  renderOutcome,
  type ToolOutcome,
  toolFingerprint,
  type WithinQuestion,
} from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import { clip, messageOf } from "@toolcrib/core/text";
import { type Asked, approvalOf, shownTogether } from "./approval.ts";
import { isReadOnly } from "./callable.ts";
import { type CallRecord, shownLength } from "./callRecord.ts";
import type { GuestCall, GuestResult, TimedResult } from "./engine/messages.ts";
import { digest, type LogLine, type ProgramLog } from "./programLog.ts";

/** Most bytes of what a call takes from a program, and of what it gives it. */
const mostBytes = 2 ** 20;
const notRun = "Not run: the program has ended";

/** The result that a program gets: a value, or an error with its code. */
export type CallAnswer = { readonly value: unknown } | { readonly message: string; readonly code: string };

export interface CallSettings {
  /** The registry that runs the calls. */
  readonly registry: AnyToolRegistry;
  /** The id of the program's own call; those of its calls are `OUTER:n`. */
  readonly outer: string;
  readonly options: Omit<ExecuteOptions, "callId" | "within">;
  readonly maxConcurrent: number;
  readonly log: ProgramLog;
  /** Returns why programs may not call a tool that the registry has. */
  readonly refusal: (name: string) => string | undefined;
  /** Answers a question about tools. */
  readonly lookUp: (name: string, args: unknown) => CallAnswer;
  readonly deliver: (results: readonly TimedResult[]) => void;
  readonly onStart: (record: CallRecord) => void;
  /** Is told that nothing can go on without answers to these questions. */
  readonly onParked: (questions: readonly WithinQuestion[]) => void;
  /** Is told that the program took another way than its record. */
  readonly onDifference: (why: string) => void;
}

type Queued = GuestCall & { readonly record: CallRecord };

/**
 * Runs the calls of one program by the registry, in the order in which it made them: neighbouring read-only ones side by side, up to
 * `maxConcurrent`, any other alone. Calls of the record that have a result are not run again.
 */
export class ProgramCalls {
  readonly #settings: CallSettings;
  readonly #records: CallRecord[] = [];
  readonly #queue: Queued[] = [];
  readonly #running = new Set<CallRecord>();
  readonly #questions = new Map<number, Asked>();
  #isParked = false;
  readonly #results: TimedResult[] = [];
  /** Messages to the program: its start, and results. */
  #sent = 1;
  #isIdle = false;
  #flush: NodeJS.Immediate | undefined;
  #isFlushing = false;
  #taken: Promise<void> = Promise.resolve();
  #hasEnded = false;
  #onIdle: (() => void) | undefined;

  constructor(settings: CallSettings) {
    this.#settings = settings;
  }

  get records(): readonly CallRecord[] {
    return this.#records;
  }

  /** Takes the calls that the program has made by its `turn`th turn, after which it waits. */
  take(calls: readonly GuestCall[], turn: number): void {
    this.#taken = this.#taken.then(() => this.#take(calls, turn));
  }

  async #take(calls: readonly GuestCall[], turn: number): Promise<void> {
    const { log, onDifference } = this.#settings;
    const lines: LogLine[] = [];
    const queued: Queued[] = [];
    for (const call of calls) {
      const record = call.number > 0 ? this.#recordOf(call) : undefined;
      if (!record) {
        if (!log.resultOf(call.number)) this.#answerLookUp(call);
        continue;
      }
      const line = this.#lineOf(call);
      const difference = log.difference(line);
      if (difference) {
        onDifference(difference);
        return;
      }
      if (difference === undefined) lines.push(line);
      const before = log.resultOf(call.number);
      if (before) setState(record, before);
      else if (log.wasBegun(call.number) && !this.#mayRunTwice(call.name)) this.#interrupt(call.number, record);
      else queued.push({ ...call, record });
    }
    await this.#write(lines);
    if (this.#hasEnded) return;
    this.#queue.push(...queued);
    this.#isIdle = turn === this.#sent;
    this.#startNext();
  }

  /** Lets no further result reach the program. Resolves once no call runs; those that wait are begun only if the program ended well. */
  async end(isWell: boolean): Promise<void> {
    await this.#taken;
    this.#hasEnded = true;
    clearImmediate(this.#flush);
    this.#note(this.#results.splice(0));
    const left = isWell ? [] : this.#queue.splice(0);
    const asked = this.#isParked ? [] : this.#questions.values();
    this.#note([...left, ...asked].map(({ number, name }) => resultOf(number, failure(name, notRun))));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle = resolve;
    this.#startNext();
    return promise;
  }

  /** Keeps lines; resolves to whether it could. What they say must not happen where they cannot be kept, so the program is ended then. */
  async #write(lines: readonly LogLine[]): Promise<boolean> {
    const { log, onDifference } = this.#settings;
    if (lines.length === 0 || !log.isKept) return true;
    try {
      await log.write(lines);
      return true;
    } catch (error) {
      this.#hasEnded = true;
      this.#queue.length = 0;
      onDifference(`its record cannot be kept: ${messageOf(error)}`);
      return false;
    }
  }

  #recordOf({ number, name, args }: GuestCall): CallRecord {
    const isRead = isReadOnly(this.#settings.registry.get(name));
    const record: CallRecord = { number, name, args: clip(args, shownLength), isReadOnly: isRead, state: "waiting" };
    this.#records.push(record);
    return record;
  }

  #lineOf({ number, name, args }: GuestCall): Extract<LogLine, { type: "call" }> {
    const { registry, log } = this.#settings;
    const tool = registry.get(name);
    const prints = log.isKept ? { print: digest(args), ...(tool && { tool: toolFingerprint(tool) }) } : { print: "" };
    return { type: "call", number, name: clip(name), args: clip(args, 10 * shownLength), ...prints };
  }

  #mayRunTwice(name: string): boolean {
    const tool = this.#settings.registry.get(name);
    return !tool || isReadOnly(tool) || attempt(() => tool.idempotent) === true;
  }

  #interrupt(number: number, record: CallRecord): void {
    record.state = "failed";
    record.error = "Interrupted; may have run";
    this.#deliver(number, failure(record.name, record.error));
  }

  #startNext(): void {
    for (let next = this.#queue[0]; next && this.#mayStart(next.record); next = this.#queue[0]) {
      this.#queue.shift();
      void this.#run(next, next.record);
    }
    if (this.#running.size > 0 || this.#queue.length > 0) return;
    this.#onIdle?.();
    const isStill = this.#isIdle && this.#results.length === 0 && !this.#isFlushing && !this.#hasEnded;
    if (!isStill || this.#questions.size === 0) return;
    this.#isParked = true;
    void this.#park();
  }

  /** Tells the questions, with what each offers, which is known now that all of them are. */
  async #park(): Promise<void> {
    const { shown, lines } = shownTogether([...this.#questions.values()]);
    if (await this.#write(lines)) this.#settings.onParked(shown);
  }

  #mayStart(record: CallRecord): boolean {
    if (this.#running.size === 0) return true;
    const [one] = this.#running;
    return record.isReadOnly && one?.isReadOnly === true && this.#running.size < this.#settings.maxConcurrent;
  }

  async #run(call: Queued, record: CallRecord): Promise<void> {
    this.#running.add(record);
    record.state = "running";
    this.#settings.onStart(record);
    const answer = await this.#answer(call);
    this.#running.delete(record);
    if (answer) {
      setState(record, resultOf(call.number, answer));
      if (this.#hasEnded) this.#note([resultOf(call.number, answer)]);
      else this.#deliver(call.number, answer);
    } else record.state = "asked";
    this.#startNext();
  }

  /** Resolves to undefined for a call that a guard asks about. */
  async #answer({ number, name, args: text }: GuestCall): Promise<CallAnswer | undefined> {
    const { registry, outer, options, refusal, log } = this.#settings;
    const refused = refusal(name);
    if (refused !== undefined) return { message: refused, code: "not_available" };
    const bytes = Buffer.byteLength(text);
    if (bytes > mostBytes)
      return failure(name, `Invalid arguments: they have ${bytes} bytes, a call of a program at most ${mostBytes}`);
    const args: unknown = attempt(() => JSON.parse(text));
    const callId = `${outer}:${number}`;
    let asked: Asked | undefined;
    const approve: Approve = async (guarded, question) => {
      const write = (lines: readonly LogLine[]): Promise<boolean> => this.#write(lines);
      const approval = await approvalOf(guarded, question, { number, callId, log, approve: options.approve, write });
      if ("answer" in approval) return approval.answer;
      asked = approval.asked;
      return false;
    };
    const asks = options.approve !== undefined || log.isKept;
    const outcome = await registry.invoke(name, args, { ...options, callId, within: outer, ...(asks && { approve }) });
    if (!asked) return attempt(() => this.#read(name, outcome)) ?? failure(name, "its result cannot be read");
    await this.#write([{ type: "asked", number, print: asked.print }]);
    if (this.#hasEnded) return failure(name, notRun);
    this.#questions.set(number, asked);
    return undefined;
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

  #deliver(number: number, answer: CallAnswer): void {
    this.#results.push(resultOf(number, answer));
    this.#flushSoon();
  }

  /** Records results that the program does not get any more. */
  #note(results: readonly TimedResult[]): void {
    void this.#write(results.map((one) => ({ type: "end", ...one })));
  }

  /** Sends the results that come at one time together, once they are kept. */
  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#flush ??= setImmediate(async () => {
      this.#flush = undefined;
      const results = this.#results.splice(0);
      this.#isFlushing = true;
      await this.#write(results.map((result) => ({ type: "end", ...result })));
      this.#isFlushing = false;
      if (this.#hasEnded) return;
      this.#send(results);
      if (this.#results.length > 0) this.#flushSoon();
    });
  }

  #send(results: readonly TimedResult[]): void {
    this.#sent += 1;
    this.#isIdle = false;
    this.#settings.deliver(results);
  }
}

function setState(record: CallRecord, { ok, text }: GuestResult): void {
  record.state = ok ? "ok" : "failed";
  if (!ok) record.error = clip(String(JSON.parse(text).message), shownLength);
}

function resultOf(number: number, answer: CallAnswer): TimedResult {
  const ok = "value" in answer;
  return { number, ok, text: JSON.stringify(ok ? answer.value : answer), time: Date.now() };
}

function failure(name: string, why: string): CallAnswer {
  return { message: `Error executing ${name}: ${why}`, code: "execution_failed" };
}
