import { attempt } from "@toolcrib/core/internal";
import { type CommandOutput, lengthOfRest, type OutputSink } from "./headTailBuffer.ts";

/** Least time between two reports: ten a second at most. */
const pauseMs = 100;
const mostLines = 5;
const mostBytes = 2048;

/** The last output of a command, reported while it runs. */
export interface ProgressTail {
  /** Passes everything on to the given sinks. */
  readonly output: CommandOutput;
  /** Ends the reports; to be called when the command has ended. */
  end(): void;
}

/**
 * Reports the last lines of both streams, in the order they came, at most ten times a second. A command that ends within the first
 * tenth of a second reports nothing.
 */
export function createProgressTail(output: CommandOutput, report: (lines: string) => void): ProgressTail {
  let tail: Uint8Array = new Uint8Array(0);
  let lastFrom: OutputSink | undefined;
  let timer: NodeJS.Timeout | undefined;
  const send = (): void => {
    timer = undefined;
    const lines = lastLines(tail);
    // A screen that fails does not end the command.
    if (lines !== "") attempt(() => report(lines));
  };
  const tee = (sink: OutputSink): OutputSink => ({
    push(bytes) {
      sink.push(bytes);
      const isCut = lastFrom !== undefined && lastFrom !== sink && tail.at(-1) !== 10;
      lastFrom = sink;
      const joined = Buffer.concat([tail, Buffer.from(isCut ? "\n" : ""), bytes.subarray(-mostBytes)]);
      tail = joined.subarray(-mostBytes);
      timer ??= setTimeout(send, pauseMs).unref();
    },
    toString: () => sink.toString(),
  });
  return { output: { stdout: tee(output.stdout), stderr: tee(output.stderr) }, end: () => clearTimeout(timer) };
}

/** Returns the last lines with something in them, as they were printed. */
function lastLines(tail: Uint8Array): string {
  // Either end may have fallen inside a character.
  const start = tail.length === mostBytes ? lengthOfRest(tail) : 0;
  const text = new TextDecoder().decode(tail.subarray(start), { stream: true });
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(-mostLines)
    .join("\n");
}
