import type { StepStart, WithinQuestion } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import { clip, messageOf } from "@toolcrib/core/text";
import { type AnswerSettings, answerCall, type CallAnswer, type CallEnd, failure } from "./answerCall.ts";
import { type Asked, shownTogether } from "./approval.ts";
import { isReadOnly, mayRunTwice } from "./callable.ts";
import { type CallRecord, setState, shownLength } from "./callRecord.ts";
import type { GuestCall, TimedResult } from "./engine/messages.ts";
import type { Line, LogLine } from "./programLog.ts";

const notRun = "Not run: the program has ended";

export interface CallSettings extends AnswerSettings {
  readonly maxConcurrent: number;
  /** Answers a question about tools. */
  readonly lookUp: (name: string, args: unknown) => CallAnswer;
  readonly deliver: (results: readonly TimedResult[]) => void;
  readonly onStart: (record: CallRecord) => void;
  /** Is told that nothing can go on without answers to these questions. */
  readonly onParked: (questions: readonly WithinQuestion[]) => void;
  /** Is told that the program took another way than its record. */
  readonly onDifference: (why: string) => void;
}

type Queued = GuestCall & {
  readonly record: CallRecord;
  /** To be kept as it starts. */
  readonly lines: readonly Line<"call">[];
  /** It must not run twice. */
  readonly once: boolean;
  /** False for such a one that may have run before. */
  readonly mayRun: boolean;
  /** A call before it waits for an answer: it is only looked at, for its question. */
  isHeld?: boolean;
};

/**
 * Runs the calls of one program by the registry, in the order in which it made them: neighbouring read-only ones side by side, up to
 * `maxConcurrent`, any other alone, also where one waits for an answer. Calls of the record that have a result are not run again. Where
 * calls are steps, the program gets the results of all that it has made together, in their order: it must not matter which ends first.
 */
export class ProgramCalls {
  readonly #settings: CallSettings;
  readonly records: CallRecord[] = [];
  readonly #queue: Queued[] = [];
  readonly #running = new Set<CallRecord>();
  readonly #questions = new Map<number, Asked>();
  /** Calls that wait for an answer to a call before them. */
  readonly #held: Queued[] = [];
  #isParked = false;
  readonly #results: TimedResult[] = [];
  /** The number of them that are in the record. */
  #kept = 0;
  /** Messages to the program: its start, and results. */
  #sent = 1;
  #isIdle = false;
  #flush: NodeJS.Immediate | undefined;
  #isFlushing = false;
  /** The program has returned, and gets no results: those of its calls still wait for answers. */
  #hasReturned = false;
  #hasEnded = false;
  #startsNone = false;
  #onIdle: (() => void) | undefined;
  /** The program's clock. */
  #time: number;

  constructor(settings: CallSettings) {
    this.#settings = settings;
    this.#time = settings.log.begin.time;
  }

  /** Takes the calls that the program has made by its `turn`th turn, after which it waits. */
  take(calls: readonly GuestCall[], turn: number): void {
    const { log, onDifference } = this.#settings;
    for (const call of calls) {
      const before = log.resultOf(call.number);
      if (before) this.#time = Math.max(this.#time, before.time);
      if (call.number < 0) {
        if (!before && !this.#hasEnded) this.#lookUp(call);
        continue;
      }
      const record = this.#recordOf(call);
      if (call.refused !== undefined) {
        Object.assign(record, { state: "failed", error: clip(call.refused, shownLength) });
        continue;
      }
      const line = log.lineOf(call, this.#settings.registry.get(call.name));
      const difference = log.difference(line);
      if (difference) {
        onDifference(difference);
        return;
      }
      const wasBegun = log.wasBegun(call.number);
      const once = !mayRunTwice(this.#settings.registry.get(call.name));
      const mayRun = !(wasBegun && once);
      // One that was asked about is in the record.
      const lines = difference === undefined || wasBegun ? [line] : [];
      if (before) setState(record, before);
      else if (!this.#hasEnded) this.#queue.push({ ...call, record, lines, once, mayRun });
    }
    this.#isIdle = turn === this.#sent;
    if (!this.#hasEnded) this.#startNext();
  }

  /** Lets no further result reach the program. Resolves once no call runs; those that wait are begun, and ask, only if the program ended well. */
  async end(isWell: boolean): Promise<void> {
    this.#hasReturned = isWell;
    if (isWell) await this.#idle();
    this.#hasEnded = true;
    clearImmediate(this.#flush);
    void this.#write(this.#newEnds());
    for (const { number, name } of this.#isParked ? [] : this.#questions.values())
      void this.#write([{ type: "end", ...this.#resultOf(number, failure(name, notRun)) }]);
    this.#queue.unshift(...this.#held.splice(0));
    this.#startsNone = !isWell || this.#isParked;
    if (this.#startsNone) this.#queue.length = 0;
    await this.#idle();
  }

  /** Resolves once no call runs, and questions that were left are told. */
  #idle(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle = resolve;
    this.#startNext();
    return promise;
  }

  /** Keeps lines; resolves to whether it could. */
  async #write(lines: readonly LogLine[], sync = false): Promise<boolean> {
    try {
      if (lines.length > 0) await this.#settings.log.write(lines, sync);
      return true;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  /** Ends the program: nothing must happen of which there is no record. */
  #fail(error: unknown): void {
    this.#hasEnded = true;
    this.#queue.length = 0;
    this.#settings.onDifference(`its record cannot be kept: ${messageOf(error)}`);
  }

  #recordOf({ number, name, args }: GuestCall): CallRecord {
    const isRead = isReadOnly(this.#settings.registry.get(name));
    const record: CallRecord = { number, name, args: clip(args, shownLength), isReadOnly: isRead, state: "waiting" };
    this.records.push(record);
    return record;
  }

  #startNext(): void {
    const group: Queued[] = [];
    const isRound = this.#settings.log.step !== undefined && this.#running.size > 0;
    while (this.#queue[0] && !isRound && this.#mayStart(this.#queue[0].record)) {
      const next = this.#queue.shift() as Queued;
      next.isHeld = this.#mustWait(next.record);
      this.#running.add(next.record);
      group.push(next);
    }
    if (group.length > 0) void this.#start(group);
    if (this.#running.size > 0 || this.#queue.length > 0) return;
    if (this.#results.length > 0) this.#flushSoon();
    const waits = this.#isIdle && this.#results.length === 0 && !this.#isFlushing;
    const isStill = (waits || this.#hasReturned) && !this.#hasEnded && this.#questions.size > 0;
    if (!isStill || this.#isParked) this.#onIdle?.();
    else void this.#park();
  }

  /** Tells the questions, with what each offers, which is known now that all of them are. */
  async #park(): Promise<void> {
    this.#isParked = true;
    const { shown, lines } = shownTogether([...this.#questions.values()]);
    if (await this.#write(lines)) this.#settings.onParked(shown);
    this.#onIdle?.();
  }

  #mayStart(record: CallRecord): boolean {
    if (this.#running.size === 0) return true;
    const { log, maxConcurrent } = this.#settings;
    // Of steps that run side by side some may be recorded: one of the others could use up what those have used.
    if (log.step && log.grants.areGiven) return false;
    const [one] = this.#running;
    return record.isReadOnly && one?.isReadOnly === true && this.#running.size < maxConcurrent;
  }

  /** Returns whether a call must not run before one that waits for an answer. */
  #mustWait({ number, isReadOnly: isRead }: CallRecord): boolean {
    const waits = ({ state }: CallRecord): boolean => state === "asked" || state === "waiting";
    const isBefore = (one: CallRecord): boolean => one.number < number && waits(one) && !(one.isReadOnly && isRead);
    return !this.#hasEnded && this.records.some(isBefore);
  }

  /** Starts calls once their beginning is kept. */
  async #start(group: readonly Queued[]): Promise<void> {
    const begun = group.filter(({ isHeld }) => !isHeld);
    // What has ended before must not be in doubt if the process dies now.
    const ends = this.#settings.log.step ? [] : this.#newEnds();
    const isKept = await this.#write(
      [...ends, ...begun.flatMap(({ lines }) => lines)],
      begun.some(({ once, mayRun }) => once && mayRun),
    );
    if (isKept) for (const call of group) void this.#run(call);
    else {
      for (const { record } of group) this.#running.delete(record);
      this.#startNext();
    }
  }

  async #run(call: Queued): Promise<void> {
    const { number, record, name, isHeld } = call;
    if (!isHeld) {
      record.state = "running";
      this.#settings.onStart(record);
    }
    const end = await this.#endOf(call).catch((error: unknown) => this.#fail(error));
    const asked = end?.asked && ({ type: "asked", number, print: end.asked.print } as const);
    const isAsked = asked && (await this.#write(isHeld ? [...call.lines, asked] : [asked]));
    this.#running.delete(record);
    if (end && !end.asked && !end.answer) {
      if (!this.#hasEnded) this.#held.push(call);
      else if (!this.#startsNone) this.#queue.unshift(call);
    } else if (isAsked && !this.#hasEnded) {
      record.state = "asked";
      this.#questions.set(number, end.asked);
    } else if (end) {
      const { answer, time } = end.answer ? end : { answer: failure(name, notRun), time: 0 };
      const result = this.#resultOf(number, answer, time);
      setState(record, result);
      if (this.#hasEnded) void this.#write([{ type: "end", ...result }]);
      else this.#deliver(result);
    }
    this.#startNext();
  }

  /** Resolves to the end of a call, as it was recorded if it was a step before. */
  async #endOf(call: Queued): Promise<CallEnd> {
    const { log } = this.#settings;
    const run = (start: StepStart): Promise<CallEnd> =>
      answerCall(this.#settings, call, start, (lines) => this.#write(lines, true));
    if (!log.step) return run({ mayHaveRun: !call.mayRun });
    const end = await log.step(run, { number: call.number, once: call.once && !call.isHeld });
    for (const line of end.lines ?? []) log.take(line);
    await this.#write(end.lines ?? []);
    return end;
  }

  #lookUp({ number, name, args }: GuestCall): void {
    const asked: unknown = attempt(() => JSON.parse(args));
    this.#deliver(this.#resultOf(number, this.#settings.lookUp(name, asked), this.#time));
  }

  /** Returns a result with the time at which the program gets it. */
  #resultOf(number: number, answer: CallAnswer, time = Date.now()): TimedResult {
    const ok = "value" in answer;
    return { number, ok, text: JSON.stringify(ok ? answer.value : answer), time };
  }

  #deliver(result: TimedResult): void {
    this.#results.push(result);
    if (this.#settings.log.step === undefined) this.#flushSoon();
  }

  /** Returns the lines of the results that are in no record yet. The program's clock does not go back. */
  #newEnds(): readonly LogLine[] {
    const timed = this.#results.splice(this.#kept).map((result) => {
      this.#time = Math.max(this.#time, result.time);
      return { ...result, time: this.#time };
    });
    this.#kept = this.#results.push(...timed);
    return timed.map((one) => ({ type: "end", ...one }));
  }

  /** Sends the results that come at one time together, once they are kept. */
  #flushSoon(): void {
    const { log, deliver } = this.#settings;
    if (this.#isFlushing) return;
    this.#flush ??= setImmediate(async () => {
      this.#flush = undefined;
      if (log.step) this.#results.sort((one, other) => one.number - other.number);
      const ends = this.#newEnds();
      const results = this.#results.splice(0);
      this.#kept = 0;
      this.#isFlushing = true;
      await this.#write(ends);
      this.#isFlushing = false;
      if (this.#hasEnded || this.#hasReturned) return;
      this.#sent += 1;
      this.#isIdle = false;
      deliver(results);
      if (this.#results.length > 0) this.#flushSoon();
    });
  }
}
