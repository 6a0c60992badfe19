import type { Writable } from "node:stream";
import { withoutControls } from "@toolcrib/core/text";
import { firstRow } from "./question.ts";
import type { Printed } from "./render.ts";
import { createStyle, isPlain, type Style, wantsColor, withStyleOnly } from "./style.ts";

/** The two streams: data on stdout, everything else on stderr. Control characters from elsewhere never reach a screen. */
export interface Terminal {
  /** For text on stderr. */
  readonly style: Style;
  /** For text on stdout. */
  readonly dataStyle: Style;
  /** Prints data as it is; on a screen without control characters and with a last line break. */
  data(text: string): void;
  /** Prints our own words on stdout, which may be coloured. */
  show(text: string): void;
  /** Prints a line for people. */
  note(text: string): void;
  /** Prints a line that matters less. */
  aside(text: string): void;
  print(pieces: readonly Printed[]): void;
  /** Shows one row in place until anything else is written; empty takes it off. Nothing unless stderr is a screen. */
  tail(text: string): void;
  /** Lets `use` alone write to the screen while it runs, on stderr; what comes meanwhile is written after it. */
  alone<Result>(use: (write: (text: string) => void) => Promise<Result>): Promise<Result>;
  /** Has `line` print what is for a screen from now on, and stay below it. */
  keepBelow(line: BottomLine | undefined): void;
}

/** A screen whose last rows stay below what is printed. */
interface BottomLine {
  print(text: string): void;
  /** Takes them off the screen until `resume`. */
  pause(): void;
  resume(): void;
}

type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

export function createTerminal(
  env: NodeJS.ProcessEnv,
  { stdout, stderr }: { readonly stdout: Output; readonly stderr: Output },
): Terminal {
  const colors = { stdout: wantsColor(stdout, env), stderr: wantsColor(stderr, env) };
  let held: [Output, string][] | undefined;
  let below: BottomLine | undefined;
  let hasTail = false;
  const style = createStyle(colors.stderr);
  const clearTail = (): void => {
    if (hasTail) stderr.write("\r\u001b[K");
    hasTail = false;
  };
  const put = (stream: Output, text: string): void => {
    if (text !== "") clearTail();
    if (held) held.push([stream, text]);
    else if (below && stream.isTTY) below.print(text);
    else stream.write(text);
  };
  const write = (text: string): void => put(stdout, stdout.isTTY ? withoutControls(text) : text);
  const writeNote = (text: string): void => put(stderr, withStyleOnly(text, colors.stderr));
  return {
    style,
    dataStyle: createStyle(colors.stdout),
    data: (text) => write(stdout.isTTY && !text.endsWith("\n") ? `${text}\n` : text),
    show: (text) => put(stdout, withStyleOnly(text, colors.stdout)),
    note: (text) => writeNote(`${text}\n`),
    aside: (text) => writeNote(`${text.split("\n").map(style.dim).join("\n")}\n`),
    print(pieces) {
      for (const { to, text } of pieces) {
        if (to === "tail") this.tail(text);
        else if (to === "stdout") write(text);
        else writeNote(text);
      }
    },
    tail(text) {
      clearTail();
      if (text === "" || held || below || !stderr.isTTY || isPlain(env)) return;
      const row = firstRow(text, (stderr.columns || 80) - 1);
      // The next output is written over it, also by code that does not know of it.
      stderr.write(`${style.dim(row)}\r`);
      hasTail = true;
    },
    async alone(use) {
      const after: [Output, string][] = [];
      clearTail();
      below?.pause();
      held = after;
      try {
        return await use((text) => void stderr.write(withStyleOnly(text, colors.stderr)));
      } finally {
        held = undefined;
        for (const [stream, text] of after) put(stream, text);
        below?.resume();
      }
    },
    keepBelow(line) {
      below = line;
    },
  };
}
