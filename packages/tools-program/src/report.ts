import { nearestName, oneLine } from "@toolcrib/core/internal";
import { clip, cutHead } from "@toolcrib/core/text";
import type { CallRecord } from "./callRecord.ts";
import type { KeptOutput, ProgramEnd } from "./engine/messages.ts";
import { writeSpill } from "./output.ts";

/** Most characters of the answer of a program that fails: the registry would cut a longer one. */
const mostCharacters = 8192;
const mostOfMessage = 2000;
const mostOfOutput = 2000;
/** Room for the words between the parts, and for the path of a file. */
const reserve = 600;
const mostPath = 4096;

const missing = "It may have made calls that are not listed here: look at what they did before you make them again.";

export type FailedEnd = Extract<ProgramEnd, { failed: string }>;

/** The facts about a program that has failed. */
export interface Failed {
  readonly end: FailedEnd;
  readonly code: string;
  readonly output: KeptOutput;
  readonly calls: readonly CallRecord[];
  /** It may have made more calls than these. */
  readonly mayLackCalls: boolean;
  readonly spill: string | undefined;
  /** Of the tools that it may call. */
  readonly names: readonly string[];
}

/** Words the failure of a program: why and where, what it printed, and the calls that it made, so that they are not made twice. */
export async function failureReport(failed: Failed): Promise<string> {
  const { end, code, output, calls, mayLackCalls, spill, names } = failed;
  const why = whyFailed(end, code, names);
  const made = calls.filter(({ state }) => state !== "waiting");
  const lines = made.map(callLine);
  const waiting = calls.length - made.length;
  const notStarted = waiting === 0 ? "" : `\n${count(waiting, "more call")} not started.`;
  const refused =
    end.refusedCalls === 0 ? "" : `\n${count(end.refusedCalls, "more call")} refused, as there were too many.`;
  const joined = (words: string, text: string, shown: readonly string[]): string => {
    const none = mayLackCalls ? missing : "It made no call.";
    const list =
      shown.length === 0 ? none : `Calls that it made:\n${shown.join("\n")}${mayLackCalls ? `\n${missing}` : ""}`;
    return `${words}${text === "" ? "" : `\n\nPrinted:\n${text.trimEnd()}`}\n\n${list}${notStarted}${refused}`;
  };
  const printed = output.tail === "" ? output.head : `${output.head}\n[…]\n${output.tail}`;
  const whole = joined(why, printed, lines);
  if (whole.length <= mostCharacters && output.tail === "") return whole;
  const written = spill === undefined ? undefined : await writeSpill(spill, whole);
  const path = written && "path" in written ? written.path : undefined;
  const notice = path === undefined || path.length > mostPath ? "" : `\n\n[all of this is in ${path}]`;
  const short = [clip(why, mostOfMessage), headAndEnd(printed, mostOfOutput)] as const;
  const room = mostCharacters - short.join("").length - notice.length - reserve;
  return `${joined(...short, fittingLines(made, lines, room))}${notice}`;
}

function whyFailed(end: FailedEnd, code: string, names: readonly string[]): string {
  const lines = code.split("\n");
  const isCutOff = end.failed === "syntax" && end.line !== undefined && end.line > lines.length;
  // The line after the last one has what is put around a program.
  const [line, column] = isCutOff ? [lines.length, (lines.at(-1) ?? "").length + 1] : [end.line, end.column];
  const message = isCutOff ? "it ends too early, where more is expected" : end.message.trimEnd();
  const place = line === undefined ? "" : ` (line ${line}${column === undefined ? "" : `, column ${column}`})`;
  const text = lines[(line ?? 0) - 1]?.trim() ?? "";
  const shown = text === "" ? "" : `\n> ${clip(text, 200)}`;
  const start = { thrown: "", syntax: "The program does not parse: " }[String(end.failed)] ?? "The program was ended: ";
  return `${start}${message || "it threw an error without words"}${place}${shown}${hintOf(end.failed, message, { line: text, code, names })}`;
}

const absent =
  /^(?:ReferenceError: )?(?:could not load module|(?:require|process|Buffer|fetch|XMLHttpRequest|WebSocket|setTimeout|setInterval|setImmediate|performance|WeakRef|FinalizationRegistry|structuredClone|URL|TextEncoder|TextDecoder|crypto|Atomics) is not defined)/;

function hintOf(
  failed: FailedEnd["failed"],
  message: string,
  { line, code, names }: { readonly line: string; readonly code: string; readonly names: readonly string[] },
): string {
  const isModule = failed === "syntax" && /^(?:import|export)\b/.test(line);
  if (isModule || (failed === "thrown" && absent.test(message)))
    return "\nA program has the JavaScript language, and no modules, files, network, timers or Node: call tools for those.";
  const missing = failed === "thrown" ? /^ReferenceError: (\S+) is not defined$/.exec(message)?.[1] : undefined;
  const near = missing && nearestName(missing, names);
  if (near) return `\nDid you mean tools.${near}?`;
  if (code.trimStart().startsWith("```")) return "\nLeave out the ``` fence around the code.";
  if (failed === "waits") return "\nOnly calls of tools take time here: await those.";
  if (failed === "time" || failed === "memory") return "\nDo less in one program, or hand the work to a tool.";
  return "";
}

const endings = {
  waiting: "not started",
  asked: "not approved",
  running: "may have run",
  ok: "ok",
  failed: "failed",
};

/** Words a call: its number, name, arguments and what came of it. */
function callLine({ number, name, args, state, error }: CallRecord): string {
  return `${number}. ${clip(oneLine(name), 70)} ${oneLine(args)}: ${state === "failed" ? oneLine(error ?? state) : endings[state]}`;
}

/** Returns the lines for which there is room; calls that may have changed something, or failed, first. */
function fittingLines(calls: readonly CallRecord[], lines: readonly string[], room: number): string[] {
  const order = calls.map((_, at) => at).sort((one, other) => weight(calls[one]) - weight(calls[other]) || one - other);
  const shown = new Set<number>();
  let left = room;
  for (const at of order) {
    left -= (lines[at]?.length ?? 0) + 1;
    if (left < 0) break;
    shown.add(at);
  }
  const hidden = calls.filter((_, at) => !shown.has(at));
  const counts = (["ok", "failed", "running", "asked"] as const).flatMap((state) => {
    const times = hidden.filter((call) => call.state === state).length;
    return times === 0 ? [] : [`${times} ${endings[state]}`];
  });
  const fitting = lines.filter((_, at) => shown.has(at));
  return counts.length === 0 ? fitting : [...fitting, `and ${hidden.length} more: ${counts.join(", ")}`];
}

function weight(call: CallRecord | undefined): number {
  if (call?.isReadOnly === false) return 0;
  return call?.state === "ok" ? 2 : 1;
}

function headAndEnd(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = most / 2;
  // The half of a pair at the beginning of the end is no character.
  const end = text.slice(-half).replace(/^[\udc00-\udfff]/, "");
  return `${cutHead(text, half)}\n[… ${text.length - most} characters left out …]\n${end}`;
}

/** Most calls that a note about what was lost names. */
const mostNamed = 5;

/** Says what a program that ended well did not see; the empty text if nothing. */
export function lostNote(end: ProgramEnd, calls: readonly CallRecord[]): string {
  const unseen = calls.filter(({ number }) => end.unseen.includes(number));
  const failed = (end.unhandled > 0 ? calls : unseen).filter(({ state }) => state === "failed");
  const notes: string[] = [];
  if (unseen.length > 0)
    notes.push(`${count(unseen.length, "call")} not awaited, so the program did not see what came of it`);
  if (end.unhandled > 0) notes.push(`${count(end.unhandled, "rejection")} not handled`);
  if (end.refusedCalls > 0) notes.push(`${count(end.refusedCalls, "call")} refused, as there were too many`);
  if (notes.length === 0) return "";
  const named = failed.slice(0, mostNamed).map(callLine);
  const more = failed.length > mostNamed ? [`and ${failed.length - mostNamed} more`] : [];
  const list = named.length === 0 ? "" : `\nFailed:\n${[...named, ...more].join("\n")}`;
  return `[${notes.join("; ")}]${list}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? " was" : "s were"}`;
}
