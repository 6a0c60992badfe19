import type { Printed } from "./render.ts";
import { withoutControls } from "./render.ts";
import { createStyle, type Style, wantsColor } from "./style.ts";

/** The two streams: data on stdout, everything else on stderr. */
export interface Terminal {
  /** For text on stderr. */
  readonly style: Style;
  /** For text on stdout. */
  readonly dataStyle: Style;
  /** Data, as it is; on a screen without control characters and with a last line break. */
  data(text: string): void;
  /** Our own words on stdout, which may be coloured. */
  show(text: string): void;
  /** A line for people. */
  note(text: string): void;
  print(pieces: readonly Printed[]): void;
}

export function createTerminal(env: NodeJS.ProcessEnv = process.env): Terminal {
  const { stdout, stderr } = process;
  for (const stream of [stdout, stderr]) {
    // The reader went away (`| head`): there is nobody left to tell.
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(0);
      throw error;
    });
  }
  const write = (text: string): void => {
    stdout.write(stdout.isTTY ? withoutControls(text) : text);
  };
  return {
    style: createStyle(wantsColor(stderr, env)),
    dataStyle: createStyle(wantsColor(stdout, env)),
    data: (text) => write(stdout.isTTY && !text.endsWith("\n") ? `${text}\n` : text),
    show: (text) => void stdout.write(text),
    note: (text) => void stderr.write(`${text}\n`),
    print(pieces) {
      for (const { to, text } of pieces) {
        if (to === "stdout") write(text);
        else stderr.write(text);
      }
    },
  };
}
