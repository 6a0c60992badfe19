/** The part of a process that the command uses: Node's own `process`, or one that a test makes. */
export interface Host {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: NodeJS.ProcessEnv;
  cwd(): string;
  on(event: HostEvent, listener: () => void): unknown;
  once(event: HostEvent, listener: () => void): unknown;
  off(event: HostEvent, listener: () => void): unknown;
  /** Ends the process, after the listeners of `exit`. */
  exit(code: number): void;
}

type HostEvent = "exit" | NodeJS.Signals;
