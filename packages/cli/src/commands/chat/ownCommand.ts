import { clip, withoutControls } from "@toolcrib/core/text";
import type { Program } from "../../program.ts";
import { runShellLine } from "../../tools/runShellLine.ts";

const mostShared = 50_000;

interface OwnCommand {
  /** In one sentence. */
  readonly end: string;
  readonly forModel: string;
}

/** Runs a command of the user's own in the shell, and prints what it prints. */
export async function runOwnCommand(
  command: string,
  { host, cwd, terminal }: Program,
  signal: AbortSignal,
): Promise<OwnCommand> {
  let output = "";
  let line = "";
  const onOutput = (text: string): void => {
    output = clip(output + text, mostShared);
    const lines = (line + text).split("\n");
    line = lines.pop() ?? "";
    if (lines.length > 0) terminal.note(lines.map(withoutControls).join("\n"));
  };
  const ended = await runShellLine({ command, cwd, host, signal, killSignal: "SIGTERM", onOutput });
  if (line !== "") terminal.note(withoutControls(line));
  const end = ended.code === null ? `Ended by ${ended.signal}.` : `Exit ${ended.code}.`;
  return { end, forModel: `I ran \`${command}\`. ${end} It printed:\n\n${output.trimEnd() || "(nothing)"}` };
}
