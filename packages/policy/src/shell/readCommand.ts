import type { LineOutput } from "./lineContext.ts";
import { readScript } from "./lineReader.ts";
import type { ShellLine } from "./shellLine.ts";

const bash = /^(?:\/(?:usr\/(?:local\/)?)?bin\/)?bash$/;
const sh = /^(?:\/(?:usr\/)?bin\/)?(?:sh|dash)$/;

/** Options that say how a line will be read. */
export interface ShellLineOptions {
  /** The shell that will run it; `/bin/sh` by default. */
  readonly shell?: string | undefined;
  /** The system that it will run on; this one by default. Where it is not Linux, `sh` may be bash 3.2. */
  readonly platform?: string | undefined;
}

/** Reads a command as the shell would, without running anything. It never throws. */
export function readShellLine(
  command: string,
  { shell = "/bin/sh", platform = process.platform }: ShellLineOptions = {},
): ShellLine {
  const output: LineOutput = { commands: [], redirections: [], changesDirectory: false, unreadable: undefined };
  const isBash = bash.test(shell);
  if (!isBash && !sh.test(shell)) output.unreadable = "It is run by a shell whose syntax cannot be parsed.";
  try {
    readScript(command, { isBash, mayBeOld: platform !== "linux" }, output, 0);
  } catch {
    output.unreadable ??= "It could not be read.";
  }
  return output;
}
