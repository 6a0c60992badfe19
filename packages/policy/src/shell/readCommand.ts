import type { LineOutput } from "./lineContext.ts";
import { readScript } from "./lineReader.ts";
import type { ShellLine } from "./shellLine.ts";

export { type ReadOnlyJudgement, readOnlyCommand } from "./readOnlyCommand.ts";

const bash = /^(?:\/(?:usr\/(?:local\/)?)?bin\/)?bash$/;
const sh = /^(?:\/(?:usr\/)?bin\/)?(?:sh|dash)$/;

/** Reads a command as the shell would, without running anything. It never throws. */
export function readShellLine(command: string, { shell }: { shell?: string | undefined } = {}): ShellLine {
  const output: LineOutput = { commands: [], redirections: [], changesDirectory: false, unreadable: undefined };
  const isBash = shell !== undefined && bash.test(shell);
  if (shell !== undefined && !isBash && !sh.test(shell))
    output.unreadable = "It is run by a shell whose language is not read.";
  try {
    readScript(command, isBash, output, 0);
  } catch {
    output.unreadable ??= "It could not be read.";
  }
  return output;
}
