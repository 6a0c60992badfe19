import type { AgentEvent } from "@toolcrib/agent";

/** Where the trace of a run goes on: headers of W3C Trace Context, as JSON that an engine keeps with the run. */
export interface TraceCarrier {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** Which run is traced. */
export interface TracedRun {
  readonly id: string;
  readonly agent: string;
}

/** One trace for each run, in whatever processes it goes on: `traceRuns` of `@toolcrib/durable/telemetry`. */
export interface RunTracing {
  /** Calls `enqueue` in a span that starts the run, with what is to be kept with the run; undefined where nothing records spans. */
  start<T>(run: TracedRun, enqueue: (carrier: TraceCarrier | undefined) => Promise<T>): Promise<T>;
  /** Passes on the events of a turn. Whatever the turn does has the run's trace; without a carrier one that follows from the run's id. */
  turn(
    run: TracedRun,
    carrier: TraceCarrier | undefined,
    events: AsyncIterable<AgentEvent>,
  ): AsyncGenerator<AgentEvent, void>;
}
