// The messages between the thread that runs programs and the one that runs their calls. Whole JSON texts, as the guest makes and reads them.

/** Places in the memory that both threads see: since when the guest runs, by the clock of `Date.now` (0 while it does not) … */
export const busySince = 0;
/** … 1 once the program is to stop … */
export const stopAsked = 1;
/** … and how many bytes of its output are in the memory for that, which outlives a thread that must be ended. */
export const printedBytes = 2;

/** The data with which a thread begins. */
export interface ThreadData {
  readonly module: WebAssembly.Module;
  readonly shared: Float64Array;
  readonly printed: Uint8Array;
}

/** Limits of one program in its thread. */
export interface EngineLimits {
  readonly memoryBytes: number;
  readonly stackBytes: number;
  readonly guestTimeoutMs: number;
  readonly maxCalls: number;
  /** Characters of output that are kept from its beginning; of the rest, only the end is. */
  readonly keptOutput: number;
}

export interface ProgramStart {
  readonly code: string;
  /** The tools that `tools` lists. Others can be called all the same: the registry answers. */
  readonly names: readonly string[];
  readonly limits: EngineLimits;
  /** The seed of `Math.random`. */
  readonly seed: number;
  /** Milliseconds since 1970 of the program's clock, which stands still until results come. */
  readonly time: number;
  /** Results of calls that it will make, in the order in which it gets them. */
  readonly results: readonly TimedResult[];
}

/** A call of a tool, with a number above 0; a question about tools has one below 0. */
export interface GuestCall {
  readonly number: number;
  readonly name: string;
  /** JSON text. */
  readonly args: string;
  /** Says why the program itself has refused it: it never runs. */
  readonly refused?: string | undefined;
}

/** The result of a call: JSON text of its value, or of `{ message, code }`. */
export interface GuestResult {
  readonly number: number;
  readonly ok: boolean;
  readonly text: string;
}

/** A result, and the time at which the program gets it. */
export type TimedResult = GuestResult & { readonly time: number };

export type ToThread =
  | { readonly type: "start"; readonly program: ProgramStart }
  | { readonly type: "results"; readonly results: readonly TimedResult[] }
  | { readonly type: "stop" };

export type FromThread =
  /** The program waits after the `turn`th message, having made these calls since; there may be none. */
  | { readonly type: "waits"; readonly calls: readonly GuestCall[]; readonly turn: number }
  /** With the calls since the last turn. `isSpent`: the thread can run no other program. */
  | {
      readonly type: "end";
      readonly end: ProgramEnd;
      readonly output: KeptOutput;
      readonly calls: readonly GuestCall[];
      readonly isSpent?: boolean;
    };

/** Words of an end that the thread finds, or else the one that has ended the thread. */
export const words = {
  stopped: "it was stopped",
  time: (ms: number): string => `it ran for more than ${ms} ms, the time of its calls not counted`,
};

/** The end of a program. `line` and `column` are those of its text, from 1. */
export type ProgramEnd = {
  /** Calls beyond the limit. */
  readonly refusedCalls: number;
  /** Rejections that the program did not handle. */
  readonly unhandled: number;
  /** The numbers of the calls whose results it did not get. */
  readonly unseen: readonly number[];
} & (
  | { readonly failed?: undefined }
  | {
      /** `waits`: for a promise that nothing can settle; `engine`: the thread itself ended. */
      readonly failed: "thrown" | "syntax" | "time" | "memory" | "stack" | "waits" | "stopped" | "engine";
      readonly message: string;
      readonly line?: number | undefined;
      readonly column?: number | undefined;
    }
);

/** Output of a program, with what it returned: the beginning, and the end if there is more than was kept. */
export interface KeptOutput {
  readonly head: string;
  readonly tail: string;
  /** Bytes of UTF-8 of all of it. */
  readonly bytes: number;
}
