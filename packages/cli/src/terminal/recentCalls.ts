import type { AgentEvent } from "@toolcrib/agent";
import { oneLine } from "@toolcrib/core/internal";
import { withoutControls } from "@toolcrib/core/text";
import { CallsWithin, type CallWithin, rowOf } from "./callsWithin.ts";
import { showCall } from "./question.ts";
import type { Style } from "./style.ts";

/** A call, or without arguments what the model has thought. */
interface Part {
  readonly id?: string;
  readonly name: string;
  readonly args?: Readonly<Record<string, unknown>>;
  output: string;
  within?: readonly CallWithin[];
}

const mostParts = 20;
const mostRows = 2000;

/** The last calls and thoughts, of which a turn shows a few rows, to show them whole. */
export class RecentCalls {
  #parts: Part[] = [];
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
    const added: Part[] = thought === "" ? [] : [{ name: "thinking", output: thought }];
    if (!this.#within.take(event)) {
      if (event.type === "tool-call")
        added.push({ id: event.id, name: event.name, args: event.args, output: "no result" });
      const call = event.type === "tool-result" && this.#parts.find(({ id }) => id === event.id);
      if (call) Object.assign(call, { output: event.output, within: this.#within.end(event.id) });
    }
    this.#parts = [...this.#parts, ...added].slice(-mostParts);
  }

  /** Describes the last calls, as many as `count`, with arguments and results; without a count all, and what was thought. */
  describe(columns: number, count?: number): string {
    const parts = count === undefined ? this.#parts : this.#parts.filter(({ args }) => args).slice(-count);
    if (parts.length === 0) return "No tool was called yet.";
    return parts.map((part) => describePart(part, this.#style, columns)).join("\n\n");
  }
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
