/**
 * One thing that a call would do. Paths are absolute and resolved (links followed, but for the last name where the tool means the
 * link itself), with `/` or the system's separator as `node:path` has it; names that do not exist yet are kept.
 */
export interface ToolEffect {
  readonly kind: "read" | "write" | "delete" | "execute" | "network";
  readonly path?: string | undefined;
  /** The path as the caller named it, made absolute without following links; absent where that is `path`. */
  readonly givenPath?: string | undefined;
  /** Everything below `path` too. */
  readonly tree?: boolean | undefined;
  /** The whole command line, unparsed. */
  readonly command?: string | undefined;
  /** The shell that reads the command line: `sh`, `bash` or the path of a shell. */
  readonly shell?: string | undefined;
  /** The directory in which the command runs: absolute and resolved. */
  readonly cwd?: string | undefined;
  /** Variables that the call itself sets for the command. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /**
   * The confinement of the command (`sandbox; network`), and whether it is left running. One canonical text, the same for the same way of
   * running; absent if nothing confines it. Approval of one way does not cover another.
   */
  readonly confinement?: string | undefined;
  /** Text for the standard input of a command that runs already, and may run it: an execution without a command. */
  readonly input?: string | undefined;
  /** The command line that `input` goes to, unparsed. */
  readonly into?: string | undefined;
  readonly host?: string | undefined;
  /** Name of the remote where it would happen; absent on this machine. Paths and commands are those of that remote. */
  readonly remote?: string | undefined;
}
