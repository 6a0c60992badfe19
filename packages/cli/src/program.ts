import type { TrustStore } from "@toolcrib/kit/files";
import type { Leftovers } from "@toolcrib/tools-bash";
import type { Settings } from "./config/settings.ts";
import type { Host } from "./host.ts";
import type { Folders } from "./state/folders.ts";
import type { Interrupts } from "./terminal/interrupts.ts";
import type { Terminal } from "./terminal/terminal.ts";

export interface Program {
  readonly host: Host;
  readonly terminal: Terminal;
  readonly interrupts: Interrupts;
  /** Processes that commands of `run_bash` leave running: ended when the program ends. */
  readonly leftovers: Leftovers;
  /** Called when the command has ended; what was ended before takes its own out. */
  readonly atEnd: Set<() => Promise<void>>;
  readonly env: NodeJS.ProcessEnv;
  readonly folders: Folders;
  /** The settings of the user's own file, read once; undefined without one. Rejects if it is wrong. */
  readonly settings: Promise<Settings | undefined>;
  /** The user's answers about what this directory and others bring along. */
  readonly trust: TrustStore;
  readonly cwd: string;
}

/** The place a command runs in, for what needs no more. */
export type Place = Pick<Program, "folders" | "cwd">;
