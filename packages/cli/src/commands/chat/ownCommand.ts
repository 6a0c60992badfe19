import { spawn } from "node:child_process";
import { clip, withoutControls } from "@toolcrib/core/text";
import type { Terminal } from "../../terminal/terminal.ts";

/** Characters of a command's output that are kept for the model. */
const mostShared = 50_000;

interface OwnCommand {
  /** In one sentence. */
  readonly end: string;
  /** The command and what it printed. */
  readonly forModel: string;
}

/** Runs a command of the user's own in the shell, with all the user's rights, and prints what it prints. No standard input. */
export function runOwnCommand(command: string, terminal: Terminal, signal: AbortSignal): Promise<OwnCommand> {
  const isWindows = process.platform === "win32";
  const child = spawn(command, {
    shell: process.env.SHELL || true,
    stdio: ["ignore", "pipe", "pipe"],
    detached: !isWindows,
  });
  let output = "";
  let line = "";
  const print = (text: string): void => {
    output = clip(output + text, mostShared);
    const lines = (line + text).split("\n");
    line = lines.pop() ?? "";
    if (lines.length > 0) terminal.note(lines.map(withoutControls).join("\n"));
  };
  // The whole group: a command may have started others.
  const stop = (): void =>
    void (child.pid !== undefined && process.kill(isWindows ? child.pid : -child.pid, "SIGTERM"));
  signal.addEventListener("abort", stop, { once: true });
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", print);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, ended) => {
      signal.removeEventListener("abort", stop);
      if (line !== "") terminal.note(withoutControls(line));
      const end = code === null ? `Ended by ${ended}.` : `Exit ${code}.`;
      resolve({ end, forModel: `I ran \`${command}\`. ${end} It printed:\n\n${output.trimEnd() || "(nothing)"}` });
    });
  });
}
