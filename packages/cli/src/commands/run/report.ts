import type { AgentEvent } from "@toolcrib/agent";
import { formatVersion, jsonError } from "../../explain.ts";
import { createRenderer } from "../../terminal/render.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import type { TurnEnd } from "../turnEnd.ts";

type OutputFormat = "text" | "json" | "stream-json";

interface RunSummary {
  readonly ok: boolean;
  /** By `--output-schema`. */
  readonly output?: { readonly value: unknown } | undefined;
  readonly about: object;
}

export interface Report {
  event(event: Exclude<AgentEvent, { type: "end" }>): void;
  end(end: TurnEnd | undefined, summary: RunSummary): void;
  failure(error: unknown, about: object): void;
}

/** `id` only of a call that has others within it, whose `within` it is. */
interface ReportedCall {
  id?: string;
  readonly name: string;
  readonly args: object;
  isError?: boolean;
  readonly within?: string;
}

function addCall(
  { id, name, args, within }: Extract<AgentEvent, { type: "tool-call" }>,
  calls: Map<string, ReportedCall>,
): void {
  calls.set(id, { name, args, ...(within !== undefined && { within }) });
  const outer = within === undefined ? undefined : calls.get(within);
  if (outer && within !== undefined) outer.id = within;
}

/** Prints what happens: text as it comes, or one JSON object at the end, or each event as a line of JSON. `asObject`: the text of the model is no answer. */
export function createReport(format: OutputFormat, asObject: boolean, terminal: Terminal): Report {
  const line = (value: object): void => terminal.data(`${JSON.stringify(value)}\n`);
  const render = createRenderer(terminal.style);
  const notes = (event: AgentEvent): void => terminal.print(render(event).filter(({ to }) => to !== "stdout"));
  const print = (event: AgentEvent): void => terminal.print(render(event));
  if (format === "text") {
    return {
      event: asObject ? notes : print,
      end(_end, { output }) {
        if (output) terminal.data(`${JSON.stringify(output.value, undefined, 2)}\n`);
        // Ends the line of the answer.
        else if (!asObject) print({ type: "end", reason: "stop", text: "" });
      },
      failure: () => {},
    };
  }
  const toolCalls = new Map<string, ReportedCall>();
  const calls = (): object => (format === "json" ? { toolCalls: [...toolCalls.values()] } : {});
  return {
    event(event) {
      if (format === "stream-json") return line(event);
      notes(event);
      if (event.type === "tool-call") addCall(event, toolCalls);
      if (event.type === "tool-result") Object.assign(toolCalls.get(event.id) ?? {}, { isError: event.isError });
    },
    end: (end, { ok, output, about }) =>
      line({ type: "end", formatVersion, ok, ...end, ...about, ...(output && { output: output.value }), ...calls() }),
    failure: (error, about) => terminal.data(jsonError(error, { ...about, ...calls() })),
  };
}
