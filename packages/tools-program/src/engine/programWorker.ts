// The thread in which programs run, one after the other, each in an engine of its own.
import { parentPort, workerData } from "node:worker_threads";
import { EvalFlags, Intrinsics, JSException, type JSValueHandle, QuickJS, type QuickJSOptions } from "quickjs-wasi";
import { guestPrelude } from "./guest.ts";
import { OutputCollector } from "./keptOutput.ts";
import {
  busySince,
  type FromThread,
  type GuestCall,
  type ProgramEnd,
  type ProgramStart,
  printedBytes,
  stopAsked,
  type ThreadData,
  type TimedResult,
  type ToThread,
  words,
} from "./messages.ts";
import { compileBody, positionIn, programName, SourceError } from "./source.ts";

const { module, shared, printed } = workerData as ThreadData;
const printedText = Buffer.from(printed.buffer);
// References that are collected at a time of the engine's choosing, and clocks, would make two runs differ.
const intrinsics = (Intrinsics.ALL & ~Intrinsics.WEAK_REF & ~Intrinsics.PERFORMANCE) >>> 0;

type Failure = Exclude<ProgramEnd["failed"], undefined>;
type Kept = Pick<ProgramEnd, "refusedCalls" | "unhandled" | "unseen">;

/** One program. Ends once, by `onEnd`; nothing of it runs afterwards. */
class Guest {
  readonly #program: ProgramStart;
  readonly #output: OutputCollector;
  readonly #unhandled = new Set<number>();
  #lost = 0;
  #vm: QuickJS | undefined;
  #settle: JSValueHandle | undefined;
  #calls: GuestCall[] = [];
  readonly #results: TimedResult[];
  readonly #open = new Set<number>();
  #refused = 0;
  #end: ProgramEnd | undefined;
  #isSpent = false;
  #time: number;
  #usedMs = 0;
  #turn = 0;
  #deadline = Number.POSITIVE_INFINITY;

  constructor(program: ProgramStart) {
    // A mark of the encoding is no column of its first line.
    this.#program = { ...program, code: program.code.replace(/^\ufeff/, "") };
    this.#output = new OutputCollector(program.limits.keptOutput);
    this.#time = program.seed;
    this.#results = [...program.results];
  }

  async start(): Promise<void> {
    const { limits, time } = this.#program;
    const options: QuickJSOptions = {
      wasm: module,
      intrinsics,
      memoryLimit: limits.memoryBytes,
      maxStackSize: limits.stackBytes,
      timezoneOffset: 0,
      // The engine seeds Math.random with the time at which it is made.
      wasi: (memory) => ({
        clock_time_get: (_clock: number, _precision: bigint, at: number) => {
          new DataView(memory.buffer).setBigUint64(at, BigInt(Math.trunc(this.#time)) * 1_000_000n, true);
          return 0;
        },
        random_get: (at: number, length: number) => {
          new Uint8Array(memory.buffer, at, length).fill(0);
          return 0;
        },
      }),
      interruptHandler: () => this.#mustStop(),
      onUnhandledRejection: ({ identity }, _reason, isHandled) => {
        if (isHandled) this.#unhandled.delete(identity);
        else {
          // The one before is gone, and will never be handled.
          if (this.#unhandled.has(identity)) this.#lost += 1;
          this.#unhandled.add(identity);
        }
      },
    };
    const vm = await QuickJS.create(options);
    if (this.#end) return;
    this.#vm = vm;
    this.#time = time;
    this.#run(() => this.#begin(vm));
  }

  results(results: readonly TimedResult[]): void {
    if (!this.#vm || this.#end) return;
    this.#results.push(...results);
    this.#run(() => {});
  }

  /** Settles the calls whose results are next, one after the other: so the program sees them in their order. */
  #settleNext(vm: QuickJS): void {
    const settle = this.#settle;
    while (settle && this.#open.has(this.#results[0]?.number ?? 0) && !this.#end) {
      const { number, ok, text, time } = this.#results.shift() as TimedResult;
      this.#time = time;
      this.#open.delete(number);
      vm.withScope(() => {
        vm.callFunction(settle, vm.undefined, vm.newNumber(number), ok ? vm.true : vm.false, vm.newString(text));
      });
      vm.executePendingJobs();
    }
  }

  /** Ends a program that waits, or whose engine cannot be made. */
  end(failed: Failure, message: string): void {
    if (!this.#end) this.#finish(this.#failure(failed, message));
  }

  #begin(vm: QuickJS): void {
    const { code, names, limits } = this.#program;
    const host = vm.newFunction("host", (kind, number, first, second) => {
      try {
        this.#take(kind?.toString() ?? "", number?.toNumber() ?? 0, textOf(first), textOf(second));
      } catch {
        this.#end = this.#overMemory();
      }
      // The engine looks at the time after so many steps, each of which may print much. In a loop it does at once, and throws what nothing catches.
      if (this.#mustStop()) vm.evalCode("for (;;) ;");
      return vm.undefined;
    });
    const prelude = vm.evalCode(guestPrelude, "toolcrib");
    const made = vm.callFunction(
      ...([prelude, vm.undefined, host] as const),
      ...[vm.newString(JSON.stringify(names)), vm.newNumber(limits.maxCalls)],
    );
    this.#settle = made.getProp("1");
    // Last, so that no text of the program comes before it.
    const main = compileBody(code, {
      check: (source) => vm.evalCode(source, programName, EvalFlags.COMPILE_ONLY).dispose(),
      compile: (source) => vm.evalCode(source, programName),
    });
    vm.callFunction(made.getProp("0"), vm.undefined, main);
  }

  #mustStop(): boolean {
    return performance.now() > this.#deadline || shared[stopAsked] === 1 || this.#end?.failed === "memory";
  }

  /** Takes what the guest tells. */
  #take(kind: string, number: number, first: string, second: string): void {
    if (this.#end) return;
    if (kind === "print") this.#print(`${first}\n`);
    else if (kind === "call") {
      // As short as that text itself: no JSON is.
      if (second === lostText) throw new Error("out of memory");
      this.#open.add(number);
      this.#calls.push({ number, name: first, args: second });
    } else if (kind === "refused") this.#calls.push({ number, name: first, args: "", refused: second });
    else if (kind === "returned") {
      this.#refused = number;
      this.#output.add(first);
      this.#end = { ...this.#kept };
    } else if (kind === "thrown") {
      this.#refused = number;
      // The engine's own error reaches the program where a promise takes it.
      const isLate = performance.now() > this.#deadline;
      this.#end = isLate ? this.#overTime(second) : this.#failure("thrown", first, second);
    }
  }

  #print(text: string): void {
    this.#output.add(text);
    const at = shared[printedBytes] ?? 0;
    if (at < printedText.length) shared[printedBytes] = at + printedText.write(text, at);
  }

  get #kept(): Kept {
    return { refusedCalls: this.#refused, unhandled: this.#unhandled.size + this.#lost, unseen: [...this.#open] };
  }

  #failure(failed: Failure, message: string, stack?: unknown): ProgramEnd {
    return { ...this.#kept, failed, message: message.slice(0, 100_000), ...positionIn(stack, this.#program.code) };
  }

  /** Lets the guest run until it waits or ends, within the time that it has left, and tells what came of it. */
  #run(work: () => void): void {
    const startedAt = performance.now();
    this.#deadline = startedAt + this.#program.limits.guestTimeoutMs - this.#usedMs;
    shared[busySince] = Date.now();
    try {
      work();
      if (!this.#end) this.#vm?.executePendingJobs();
      if (this.#vm && !this.#end) this.#settleNext(this.#vm);
    } catch (thrown) {
      const end = this.#failureOf(thrown);
      // A program that has returned, and goes on without end, has not ended.
      if (!this.#end || (this.#end.failed === undefined && (end.failed === "time" || end.failed === "memory")))
        this.#end = end;
    } finally {
      shared[busySince] = 0;
      this.#usedMs += performance.now() - startedAt;
    }
    const calls = this.#calls;
    this.#calls = [];
    this.#turn += 1;
    if (!this.#end && this.#open.size === 0)
      this.#end = this.#failure("waits", "it awaits a promise that nothing can settle any more");
    // In one message, so that none of the calls of a program that has failed starts by chance before its end is known.
    if (this.#end) this.#finish(this.#end, calls);
    else tell({ type: "waits", calls, turn: this.#turn });
  }

  /** Reads what ended the engine's work: what the program itself throws never comes here. */
  #failureOf(thrown: unknown): ProgramEnd {
    if (thrown instanceof SourceError) {
      const { message, line, column } = thrown;
      this.#isSpent = thrown.isReaderBroken;
      return { ...this.#kept, failed: "syntax", message, line, column };
    }
    if (thrown instanceof Error && thrown.message === "wasm_malloc failed") return this.#overMemory();
    if (!(thrown instanceof JSException)) {
      // The stack of the engine itself is full, or it has failed: it cannot be used any more, and is not.
      const isStack = thrown instanceof RangeError;
      return this.#failure(isStack ? "stack" : "engine", isStack ? "it recurses too deeply" : "the engine failed");
    }
    const { message, stack } = thrown;
    if (message === "interrupted" && shared[stopAsked] === 1) return this.#failure("stopped", words.stopped);
    if (message === "interrupted") return this.#overTime(stack);
    if (message === "out of memory" || message === lostText) return this.#overMemory(stack);
    return this.#failure("thrown", message, stack);
  }

  #overMemory(stack?: unknown): ProgramEnd {
    const { memoryBytes } = this.#program.limits;
    return this.#failure("memory", `it needs more than ${memoryBytes} bytes of memory`, stack);
  }

  #overTime(stack?: unknown): ProgramEnd {
    return this.#failure("time", words.time(this.#program.limits.guestTimeoutMs), stack);
  }

  #finish(end: ProgramEnd, calls: readonly GuestCall[] = []): void {
    this.#end = end;
    // Not disposed, which would walk all that it made: its memory is one object, and goes as such.
    this.#vm = undefined;
    this.#settle = undefined;
    guest = undefined;
    tell({ type: "end", end, output: this.#output.kept, calls, isSpent: this.#isSpent });
  }
}

/** The engine's text in place of one for whose copy there is no memory. */
const lostText = "<null>";

/** Returns the text of a value of the guest; converting any other value would run its code. Throws if there is no memory for a copy. */
function textOf(handle: JSValueHandle | undefined): string {
  const text = handle?.isString ? handle.toString() : "";
  if (text === lostText && handle?.length !== text.length) throw new Error("out of memory");
  return text;
}

function tell(message: FromThread): void {
  parentPort?.postMessage(message);
}

let guest: Guest | undefined;

parentPort?.on("message", (message: ToThread) => {
  if (message.type === "start") {
    guest = new Guest(message.program);
    void guest.start().catch((error) => guest?.end("engine", String(error)));
  } else if (message.type === "results") guest?.results(message.results);
  else guest?.end("stopped", words.stopped);
});
