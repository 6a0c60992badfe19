import type { ChatTool, ExecutableTool, ExecuteOptions, ToolLabels, ToolOutcome, ToolProgress } from "@toolcrib/core";
import { malformedCall, toolMessage } from "../conversation/conversation.ts";
import type { AgentEvent, ToolCallBlock, ToolMessage } from "../messages.ts";
import { boundedResult } from "./boundedResult.ts";

/** The part of a registry that the loop needs. */
export interface ToolRunner {
  execute(name: string, args: unknown, options?: ExecuteOptions): Promise<string>;
  get(name: string): ExecutableTool | undefined;
  getEnabledSchemas(): readonly ChatTool[];
}

/** Where and how the calls of one reply run. */
export interface ToolRun {
  readonly tools: ToolRunner;
  readonly signal: AbortSignal;
  readonly labels: ToolLabels | undefined;
  /** Of one result's text. */
  readonly maxToolResultBytes: number;
  /** Ends the running calls when the caller leaves the stream. */
  abort(): void;
  /** Awaited right before these calls start. */
  starting(calls: readonly ToolCallBlock[]): Promise<void> | undefined;
  /** Awaited as soon as a call has ended, in the order in which calls end. */
  finished(result: ToolMessage): Promise<void> | undefined;
  /** Adds a result to history, in the order of the calls. */
  append(result: ToolMessage): void;
}

/**
 * Removes the calls that run next from the front of `calls`: neighbouring read-only ones together, any other alone.
 */
export function takeSideBySide(calls: ToolCallBlock[], tools: ToolRunner): ToolCallBlock[] {
  const isReadOnly = (call: ToolCallBlock | undefined): boolean => {
    try {
      return call !== undefined && tools.get(call.name)?.readOnly === true;
    } catch {
      // Its getter throws, so the tool does not state that it is read-only.
      return false;
    }
  };
  let count = 1;
  if (isReadOnly(calls[0])) while (isReadOnly(calls[count])) count += 1;
  return calls.splice(0, count);
}

/**
 * Runs calls side by side and yields what happens, the results in the order of the calls. The result of every started call
 * is appended, also when the caller leaves the stream.
 */
export async function* runSideBySide(calls: readonly ToolCallBlock[], run: ToolRun): AsyncGenerator<AgentEvent, void> {
  for (const call of calls) yield { type: "tool-call", id: call.id, name: call.name, args: call.args };
  await run.starting(calls);
  const progress: AgentEvent[] = [];
  const results: (ToolMessage | undefined)[] = [];
  let failure: { error: unknown } | undefined;
  let wake = (): void => {};
  const running = calls.map(async (call, index) => {
    try {
      const result = await runOne(call, run, (report) => {
        progress.push({ type: "tool-progress", id: call.id, name: call.name, progress: report });
        wake();
      });
      results[index] = result;
      await run.finished(result);
    } catch (error) {
      failure = { error };
    }
    wake();
  });
  let next = 0;
  try {
    for (;;) {
      for (let report = progress.shift(); report; report = progress.shift()) yield report;
      if (failure) throw failure.error;
      const result = results[next];
      if (result) {
        next += 1;
        run.append(result);
        yield { type: "tool-result", id: result.callId, ...eventOf(result) };
        if (next === calls.length) return;
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    if (next < calls.length) {
      run.abort();
      await Promise.all(running);
      for (const result of results.slice(next)) if (result) run.append(result);
    }
  }
}

function eventOf({
  name,
  output,
  isError,
  content,
}: ToolMessage): Pick<ToolMessage, "name" | "output" | "isError" | "content"> {
  return content ? { name, output, isError, content } : { name, output, isError };
}

async function runOne(
  call: ToolCallBlock,
  run: ToolRun,
  onProgress: (progress: ToolProgress) => void,
): Promise<ToolMessage> {
  if (call.malformed !== undefined) return malformedCall(call);
  let outcome: ToolOutcome | undefined;
  const output = await run.tools.execute(call.name, call.args, {
    signal: run.signal,
    callId: call.id,
    labels: run.labels,
    onProgress,
    onOutcome: (ended) => {
      outcome = ended;
    },
  });
  const content = outcome?.content;
  const bounded = boundedResult(content ? { output, content } : { output }, run.maxToolResultBytes);
  return toolMessage(call, { ...bounded, isError: outcome?.ok === false });
}
