/** A call within a composite one, as a step. */
export interface RecordedCall {
  readonly number: number;
  /** It must not begin twice. */
  readonly once: boolean;
}

/** The facts that hold while a step runs. */
export interface StepStart {
  /** A call that must not begin twice may have begun before, here or elsewhere. */
  readonly mayHaveRun: boolean;
  /** For the calls of registries within the step. */
  readonly onUsage?: ((usage: object) => unknown) | undefined;
}

/**
 * Runs `work` as a step, the first one of a composite call without `call`, or resolves to its record, which is JSON. A tool begins the steps in
 * the order of the calls' numbers, and those of calls that are not side by side once all before have ended.
 */
export type RunStep = <T extends object>(work: (start: StepStart) => Promise<T>, call?: RecordedCall) => Promise<T>;
