/** The context in which the trace of a run goes on: headers of W3C Trace Context, as JSON that an engine keeps with the run. */
export interface TraceCarrier {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** The run that is traced. */
export interface TracedRun {
  readonly id: string;
  readonly agent: string;
}

/** The end of a turn, as far as its span tells. */
export interface TracedEnd {
  readonly status: string;
  readonly answer?: string;
  readonly error?: { readonly message: string; readonly code?: unknown };
}

/** One trace for each run, in whatever processes it goes on: `traceRuns` of `@toolcrib/durable/telemetry`. */
export interface RunTracing {
  /** Calls `enqueue` in a span that starts the run, with what is to be kept with the run; undefined where nothing records spans. */
  start<T>(run: TracedRun, enqueue: (carrier: TraceCarrier | undefined) => Promise<T>): Promise<T>;
  /** Runs a turn in the trace of its run: the one of the carrier, without it one that follows from the run's id. */
  turn<T extends TracedEnd>(run: TracedRun, carrier: TraceCarrier | undefined, work: () => Promise<T>): Promise<T>;
}
