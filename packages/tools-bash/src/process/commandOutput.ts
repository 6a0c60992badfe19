/** Takes in one stream of a command, in flat memory; `toString` is what the answer shows of it. */
export interface OutputSink {
  /** Takes bytes, which are valid until it returns. */
  push(bytes: Uint8Array): void;
  toString(): string;
}

/** The sinks of a command. */
export interface CommandOutput {
  readonly stdout: OutputSink;
  readonly stderr: OutputSink;
}
