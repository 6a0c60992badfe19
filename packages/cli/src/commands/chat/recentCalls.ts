import type { AgentEvent } from "@toolcrib/agent";
import { oneLine } from "@toolcrib/core/internal";
import { withoutControls } from "@toolcrib/core/text";
import { showCall } from "../../terminal/question.ts";

interface Call {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  output?: string;
}

const mostCalls = 20;
const mostRows = 2000;

/** Remembers the last calls, which are shown in a row each, to show them whole. */
export class RecentCalls {
  readonly #calls = new Map<string, Call>();

  see(event: AgentEvent): void {
    if (event.type === "tool-call") this.#calls.set(event.id, { name: event.name, args: event.args });
    if (event.type === "tool-result") {
      const call = this.#calls.get(event.id);
      if (call) call.output = event.output;
    }
    for (const id of [...this.#calls.keys()].slice(0, -mostCalls)) this.#calls.delete(id);
  }

  /** Describes the last calls, as many as `count`, with arguments and results. */
  describe(count: number, columns: number): string {
    const calls = [...this.#calls.values()].slice(-count);
    if (calls.length === 0) return "No tool was called yet.";
    return calls.map((call) => describeCall(call, columns)).join("\n\n");
  }
}

function describeCall({ name, args, output = "no result" }: Call, columns: number): string {
  const rows = output.trimEnd().split("\n");
  const left = rows.length - mostRows;
  return [
    `→ ${oneLine(name, 64)}`,
    ...showCall(args, { columns, rows: Number.POSITIVE_INFINITY }).whole,
    ...rows.slice(0, mostRows).map((row) => `  ${withoutControls(row)}`),
    ...(left > 0 ? [`  … ${left} more rows`] : []),
  ].join("\n");
}
