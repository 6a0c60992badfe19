import type { Leftovers } from "@toolcrib/tools-bash";
import type { Host } from "./host.ts";
import type { Interrupts } from "./terminal/interrupts.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** The input of every command. */
export interface Program {
  readonly host: Host;
  readonly terminal: Terminal;
  readonly interrupts: Interrupts;
  /** Processes that commands of `run_bash` leave running: ended when the program ends. */
  readonly leftovers: Leftovers;
  /** Called when the command has ended; what was ended before takes its own out. */
  readonly atEnd: Set<() => Promise<void>>;
  readonly env: NodeJS.ProcessEnv;
  /** The working directory. */
  readonly cwd: string;
}

/** The place a command runs in, for what needs no more. */
export type Place = Pick<Program, "env" | "cwd">;
