import type { AgentEvent } from "@toolcrib/agent";
import { oneLine } from "@toolcrib/core/internal";
import { withoutControls } from "@toolcrib/core/text";
import { CallsWithin, type CallWithin, rowOf } from "./callsWithin.ts";
import { showCall } from "./question.ts";
import type { Style } from "./style.ts";

/** A call, or without arguments what the model has thought. */
interface Part {
  readonly id?: string | undefined;
  readonly name: string;
  readonly args?: Readonly<Record<string, unknown>>;
  output: string;
  within?: readonly CallWithin[];
}

const mostParts = 20;
const mostRows = 2000;

/** The last calls and thoughts, of which a turn shows a few rows, to show them whole. */
export class RecentCalls {
  /** Those that stand in a turn, and thoughts. */
  #parts: Part[] = [];
  /** All calls, those of programs too. */
  #calls: Part[] = [];
  readonly #within = new CallsWithin();
  #thought = "";
  readonly #style: Style;

  constructor(style: Style) {
    this.#style = style;
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0;
  }

  see(event: AgentEvent): void {
    if (event.type === "usage") return;
    if (event.type === "reasoning-delta") {
      if (!event.isNote) this.#thought += event.text;
      return;
    }
    const thought = this.#thought.trim();
    this.#thought = "";
    if (thought !== "") this.#parts = withLast(this.#parts, { name: "thinking", output: thought });
    const isWithin = this.#within.take(event) !== undefined;
    if (event.type === "tool-call") {
      const { id, name, args } = event;
      const call: Part = { id, name, args, output: "no result" };
      this.#calls = withLast(this.#calls, call);
      if (!isWithin) this.#parts = withLast(this.#parts, call);
    } else if (event.type === "tool-result") {
      const call = [...this.#calls, ...this.#parts].find(({ id }) => id === event.id);
      if (call) Object.assign(call, { output: event.output }, !isWithin && { within: this.#within.end(event.id) });
    }
  }

  /** Describes the last calls, as many as `count`, with arguments and results; without a count all, and what was thought. */
  describe(columns: number, count?: number): string {
    const parts = count === undefined ? this.#parts : this.#calls.slice(-count);
    if (parts.length === 0) return "No tool was called yet.";
    return parts.map((part) => describePart(part, this.#style, columns)).join("\n\n");
  }
}

/** Adds a part at the end. A call that has waited for an answer is told again, in place of the earlier one. */
function withLast(parts: readonly Part[], part: Part): Part[] {
  return [...parts.filter(({ id }) => id === undefined || id !== part.id), part].slice(-mostParts);
}

function describePart({ name, args, output, within = [] }: Part, style: Style, columns: number): string {
  const rows = output.trimEnd().split("\n");
  const left = rows.length - mostRows;
  return [
    `${args ? `${style.cyan("→")} ` : ""}${style.bold(oneLine(name, 64))}`,
    ...(args ? showCall(args, { columns, rows: Number.POSITIVE_INFINITY }).whole : []),
    ...within.map((call) => rowOf(call, style)),
    ...rows.slice(0, mostRows).map((row) => style.dim(`  ${withoutControls(row)}`)),
    ...(left > 0 ? [`  … ${left} more rows`] : []),
  ].join("\n");
}
