import type { AgentEvent } from "@toolcrib/agent";
import { oneLine } from "@toolcrib/core/internal";
import { callTitle, errorText } from "./callText.ts";
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

const mostPrinted = 10;

/** The calls of programs where rows are printed for good: the first ones, as they end, and how many more there were. */
export class PrintedCalls {
  readonly #calls = new CallsWithin();
  readonly #printed = new Set<CallWithin>();
  readonly #style: Style;

  constructor(style: Style) {
    this.#style = style;
  }

  /** Takes the event of a call within another, and returns the rows to print. */
  take(event: AgentEvent): string[] {
    const [call, outer] = this.#calls.take(event) ?? [];
    if (!call || outer === undefined) return [];
    const before = this.#calls.of(outer).filter((one) => this.#printed.has(one)).length;
    if (call.state === "running" || before >= mostPrinted) return [];
    this.#printed.add(call);
    return [rowOf(call, this.#style)];
  }

  /** Returns the row of those that were not printed, if there are any, of a call that is over. */
  end(outer: string): string[] {
    const more = countText(this.#calls.end(outer).filter((one) => !this.#printed.delete(one)));
    return more === "" ? [] : [this.#style.dim(`  … and ${more}`)];
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
