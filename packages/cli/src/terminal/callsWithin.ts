import type { AgentEvent } from "@toolcrib/agent";
import { oneLine } from "@toolcrib/core/internal";
import { clip, isObject, showInvisible } from "@toolcrib/core/text";
import { inOrder } from "./question.ts";
import type { Style } from "./style.ts";

/** A call that a program made. */
export interface CallWithin {
  /** The tool and what it reaches, on one line. */
  readonly title: string;
  state: "running" | "ok" | "failed";
  /** The reason of a failed one, on one line. */
  why: string;
}

/** The calls of programs, by the id of the call around them. */
export class CallsWithin {
  readonly #calls = new Map<string, Map<string, CallWithin>>();

  /** Takes the event of a call within another. Returns that call and the id of the one around it; undefined for any other event. */
  take(event: AgentEvent): readonly [call: CallWithin, outer: string] | undefined {
    if ((event.type !== "tool-call" && event.type !== "tool-result") || event.within === undefined) return undefined;
    const { id, name, within } = event;
    const calls = this.#calls.get(within) ?? new Map<string, CallWithin>();
    this.#calls.set(within, calls);
    const title = callTitle(name, event.type === "tool-call" ? event.args : {});
    const call: CallWithin = calls.get(id) ?? { title, state: "running", why: "" };
    calls.set(id, call);
    if (event.type === "tool-result") {
      call.state = event.isError ? "failed" : "ok";
      call.why = event.isError ? oneLine(errorText(event), 300) : "";
    }
    return [call, within];
  }

  of(outer: string): readonly CallWithin[] {
    return [...(this.#calls.get(outer)?.values() ?? [])];
  }

  /** Returns the calls within a call that is over, and forgets them. */
  end(outer: string): readonly CallWithin[] {
    const calls = this.of(outer);
    this.#calls.delete(outer);
    return calls;
  }
}

/** Writes `42 calls, 2 failed`; empty for none. */
export function countText(calls: readonly CallWithin[]): string {
  if (calls.length === 0) return "";
  const failed = calls.filter(({ state }) => state === "failed").length;
  return `${calls.length} ${calls.length === 1 ? "call" : "calls"}${failed > 0 ? `, ${failed} failed` : ""}`;
}

export function rowOf({ title, state, why }: CallWithin, style: Style): string {
  const shown = style.dim(oneLine(title, 160));
  if (state === "failed") return `  ${style.red("✗")} ${shown}${style.dim(":")} ${why}`;
  return `  ${state === "ok" ? style.green("✓") : style.cyan("→")} ${shown}`;
}

/** Returns the reason of a failed call, without the words that are for the model. */
export function errorText({ name, output }: { readonly name: string; readonly output: string }): string {
  const prefix = `Error executing ${name}: `;
  return output.startsWith(prefix) ? output.slice(prefix.length) : output;
}

/** Writes `path=src/a.ts limit=20`: one line, however long the values are. What cannot be seen is written as its code, as in a question. */
export function showArguments(args: Readonly<Record<string, unknown>>): string {
  const shown = Object.entries(args).map(([name, value]) => `${name}=${showValue(value)}`);
  return oneLine(showInvisible(clip(shown.join(" "), 640)), 160);
}

function showValue(value: unknown): string {
  const plain = typeof value === "string" && /^[^\s"'=]+$/.test(value);
  return clip(plain ? value : (JSON.stringify(value) ?? String(value)), 80);
}

/** Writes `edit_file src/a.ts`: the tool and what it reaches, then its short arguments by name. */
export function callTitle(name: string, args: Readonly<Record<string, unknown>>): string {
  const [first, ...others] = inOrder(args).map(([key, value]) => ({ key, shown: showValue(value) }));
  const isShort = ({ shown }: { shown: string }): boolean => shown.length <= 24;
  const rest = others.filter(isShort).map(({ key, shown }) => `${key}=${shown}`);
  return oneLine(showInvisible(clip([name, first?.shown ?? "", ...rest].join(" "), 640)), 200);
}

/** Summarizes the result of a call: how its command ended, or how many lines, or the only one. */
export function resultSummary({ output, data }: { readonly output: string; readonly data?: unknown }): string {
  const { exit_code: code, stdout } = isObject(data) ? data : {};
  const count = linesIn(typeof stdout === "string" ? stdout : output).length;
  if (typeof code === "number") return `exit ${code}${count > 0 ? `, ${count} ${count === 1 ? "line" : "lines"}` : ""}`;
  return count <= 1 ? oneLine(output, 120) || "nothing" : `${count} lines`;
}

/** Returns the text of a one-line result; else how many lines, whether cut, and the first. */
export function summary(output: string): string {
  const all = linesIn(output);
  const isCut = all.at(-1)?.startsWith("[truncated: ") ?? false;
  const lines = isCut ? linesIn(all.slice(0, -1).join("\n")) : all;
  const first = lines.find((line) => line.trim() !== "");
  if (lines.length <= 1 && !isCut) return oneLine(first ?? "(nothing)", 120);
  return `${lines.length} lines${isCut ? " (cut)" : ""}, first ${oneLine(first ?? "", 80)}`;
}

function linesIn(text: string): string[] {
  const body = text.trimEnd();
  return body === "" ? [] : body.split("\n");
}
