import { openSync, writeSync } from "node:fs";
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { BasicTracerProvider, type ReadableSpan, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";

/** A span that has ended, as a line of a file. */
export interface WrittenSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent?: string | undefined;
  /** Of an `execute_tool`. */
  readonly call?: unknown;
}

/** From now on each span of this process becomes a line of a file when it ends. */
export function writeSpans(file: string): void {
  const lines = openSync(file, "a");
  const write = (span: ReadableSpan): void => {
    const { traceId, spanId } = span.spanContext();
    const call = span.attributes["gen_ai.tool.call.id"];
    const line: WrittenSpan = { name: span.name, traceId, spanId, parent: span.parentSpanContext?.spanId, call };
    writeSync(lines, `${JSON.stringify(line)}\n`);
  };
  const exporter = {
    export(spans: ReadableSpan[], done: (result: { code: 0 }) => void) {
      for (const span of spans) write(span);
      done({ code: 0 });
    },
    shutdown: async () => {},
  };
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
}
