import {
  type ApprovalAnswer,
  type ApprovalQuestion,
  type CallLog,
  type ExecutableTool,
  type GuardedCall,
  type RunStep,
  toolFingerprint,
} from "@toolcrib/core";
import { attempt, canonicalJson, upToOf } from "@toolcrib/core/internal";
import { clip, isObject } from "@toolcrib/core/text";
import { type CallRecord, shownArguments, shownLength } from "./callRecord.ts";
import { guestPrelude } from "./engine/guest.ts";
import type { GuestCall, GuestResult, TimedResult } from "./engine/messages.ts";
import { Grants, type Offer } from "./grants.ts";

/** The version of `quickjs-wasi` in the manifest: another one may take another way. */
export const engineVersion = "3.7.0";

/** Holds what a program finds. `names`: those of the tools that it may list. */
export interface GuestStart {
  readonly seed: number;
  readonly time: number;
  readonly names: readonly string[];
  readonly maxCalls: number;
}

/** One line of a program's record. The program is a function of its code and these. */
export type LogLine =
  /** The beginning: all that the guest starts with, and digests of what must be the same when it is repeated. */
  | ({ readonly type: "begin"; readonly code: string; readonly engine: string } & GuestStart)
  /** A call, each time that it begins. `print`: digest of the JSON text of its arguments, of which `args` is a cut; `tool`: fingerprint, absent for an unknown tool. */
  | {
      readonly type: "call";
      readonly number: number;
      readonly name: string;
      readonly args: string;
      readonly print: string;
      readonly tool?: string;
    }
  /** The result of a call, before the program gets it: results are given in the order of these lines. */
  | ({ readonly type: "end"; readonly time: number } & GuestResult)
  /** A question about a call: `print` is the digest of the question, the tool and the arguments that would run. */
  | { readonly type: "asked"; readonly number: number; readonly print: string }
  /** That question, as it was shown, offers an answer for several calls. */
  | ({ readonly type: "offer"; readonly number: number } & Offer)
  /** The answer to the last question about a call. */
  | { readonly type: "answer"; readonly number: number; readonly answer: ApprovalAnswer }
  /** A call that was asked about may run now. `by`: the call whose answer, one for several, allows it. */
  | { readonly type: "start"; readonly number: number; readonly by?: number };

export type Line<Type extends LogLine["type"]> = Extract<LogLine, { type: Type }>;

/** A program's record, as the caller keeps it; without one it is written nowhere. */
export class ProgramLog {
  readonly begin: Line<"begin">;
  readonly #log: CallLog | undefined;
  readonly #calls = new Map<number, Line<"call">>();
  /** Digests of the open questions, by the number of the call. */
  readonly #asked = new Map<number, string>();
  readonly #answers = new Map<string, ApprovalAnswer>();
  readonly grants: Grants = new Grants();
  /** Results of earlier runs by the number of the call, in their order. */
  readonly #ends = new Map<number, Line<"end">>();

  /** The reason why the record cannot be repeated: it is one of another program or engine. */
  readonly problem: string | undefined;
  /** Lines to write before the program starts. */
  readonly #first: readonly LogLine[];

  private constructor(log: CallLog | undefined, outer: string, own: Line<"begin">, begin: LogLine) {
    this.#log = log;
    const isOwn = begin.type === "begin" && begin.code === own.code;
    if (!isOwn) this.problem = "its record is that of another program";
    else if (begin.engine !== own.engine)
      this.problem = "its record is that of another version of @toolcrib/tools-program";
    this.begin = isOwn ? begin : own;
    const [first, ...rest] = (log?.lines ?? []) as readonly LogLine[];
    for (const line of rest) this.take(line);
    const given = Object.entries(log?.answers ?? {}).flatMap(([id, answer]): LogLine[] => {
      const number = Number(id.slice(outer.length + 1));
      return id.startsWith(`${outer}:`) && this.#asked.has(number) ? [{ type: "answer", number, answer }] : [];
    });
    for (const line of given) this.take(line);
    this.#first = first === undefined ? [begin] : given;
  }

  /** Notes what a line says. */
  take(line: LogLine): void {
    if (line.type === "call") this.#calls.set(line.number, line);
    if (line.type === "end") this.#ends.set(line.number, line);
    if (line.type === "asked") {
      this.#asked.set(line.number, line.print);
      this.grants.offer(line.number, undefined);
    }
    if (line.type === "offer") this.grants.offer(line.number, line);
    if (line.type === "answer") this.#takeAnswer(line);
    if (line.type === "start") {
      this.#asked.delete(line.number);
      if (line.by !== undefined) this.grants.use(line.by, line.number);
    }
  }

  #takeAnswer({ number, answer }: Line<"answer">): void {
    const most = upToOf(answer);
    if (most !== undefined) this.grants.give(number, most);
    else this.#answers.set(`${number} ${this.#asked.get(number)}`, answer);
  }

  /** Begins the record of this run. `outer`: the id of the program's call. */
  static async open(log: CallLog | undefined, code: string, outer: string, start: GuestStart): Promise<ProgramLog> {
    const own: Line<"begin"> = { type: "begin", ...start, code: digest(code), engine: engineDigest() };
    const [first = (await log?.step?.(async () => own)) ?? own] = (log?.lines ?? []) as readonly LogLine[];
    const opened = new ProgramLog(log, outer, own, first);
    if (opened.problem === undefined && opened.#first.length > 0) await log?.write(opened.#first);
    return opened;
  }

  /** Returns the calls of the record, whether the program has come to them again or not. */
  get records(): readonly CallRecord[] {
    return Array.from(this.#calls.values(), ({ number, name, args }) => {
      const open = this.#asked.has(number) ? "asked" : "running";
      const end = this.#ends.get(number);
      const state = end ? (end.ok ? "ok" : "failed") : open;
      return { number, name, args: clip(args, shownLength), isReadOnly: false, state };
    });
  }

  /** Returns whether a record that cannot be repeated may lack calls: in the middle of a turn, those of steps are in records of their own. */
  get mayLackCalls(): boolean {
    return this.problem !== undefined && this.step !== undefined;
  }

  get isKept(): boolean {
    return this.#log !== undefined;
  }

  write(lines: readonly LogLine[], sync: boolean): void | Promise<void> {
    return this.#log?.write(lines, sync);
  }

  /** Runs a call as a step, where calls are steps. */
  get step(): RunStep | undefined {
    return this.#log?.step;
  }

  /** Returns the line of a call; its digests only where it is kept. */
  lineOf({ number, name, args }: GuestCall, tool: ExecutableTool | undefined): Line<"call"> {
    const prints = this.isKept ? { print: digest(args), ...(tool && { tool: toolFingerprint(tool) }) } : { print: "" };
    return { type: "call", number, name: clip(name), args: shownArguments(args), ...prints };
  }

  /** Says why a call cannot be the one of the record; the empty text for one that it is, and undefined for a new one. */
  difference({ number, name, print, tool }: Line<"call">): string | undefined {
    const before = this.#calls.get(number);
    if (!before) return undefined;
    if (before.name !== name) return `call ${number} was one of ${before.name}, and is one of ${name} now`;
    if (before.print !== print) return `call ${number} of ${name} has other arguments than before`;
    return before.tool === tool ? "" : `the tool ${name} is not the same any more`;
  }

  /** Returns whether a call of the record has begun, and was not asked about then: it may have run. */
  wasBegun(number: number): boolean {
    return this.#calls.has(number) && !this.#asked.has(number);
  }

  /** Returns the results of the record, in the order in which the program gets them. */
  get results(): readonly TimedResult[] {
    return [...this.#ends.values()].map(({ type: _, ...result }) => result);
  }

  /** Returns the result of the record for a call, if it has one. */
  resultOf(number: number): TimedResult | undefined {
    return this.#ends.get(number);
  }

  /** Returns the answer to a question about this call: it holds for no other, though it be the same. */
  answerTo(number: number, print: string): ApprovalAnswer | undefined {
    return this.#answers.get(`${number} ${print}`);
  }
}

/** Returns the digest of what runs a program: another engine may take another way. */
export function engineDigest(): string {
  return digest(`${engineVersion}\n${guestPrelude}`);
}

export function digest(text: string): string {
  // Not imported: it takes 8 ms to load, and many programs are never run.
  return process.getBuiltinModule("node:crypto").hash("sha256", text);
}

/** Returns the digest of a question about a call: an answer holds for the same tool, arguments and question. */
export function printOf({ tool, args }: Pick<GuardedCall, "tool" | "args">, question: ApprovalQuestion): string {
  const { text, data, guard = 0 } = question;
  const print = attempt(() =>
    digest(canonicalJson([toolFingerprint(tool), args, text, isObject(data) ? data : (data ?? null), guard])),
  );
  // Equal to no other: the question is asked anew.
  return print ?? crypto.randomUUID();
}
