import type { Writable } from "node:stream";
import { withoutControls } from "@toolcrib/core/text";
import type { Printed } from "./render.ts";
import { createStyle, type Style, wantsColor, withStyleOnly } from "./style.ts";

/** The two streams: data on stdout, everything else on stderr. No control characters of others reach a screen. */
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

type Output = Writable & { readonly isTTY?: boolean };

export function createTerminal(
  env: NodeJS.ProcessEnv = process.env,
  { stdout, stderr }: { readonly stdout: Output; readonly stderr: Output } = process,
): Terminal {
  const colors = { stdout: wantsColor(stdout, env), stderr: wantsColor(stderr, env) };
  const write = (text: string): void => void stdout.write(stdout.isTTY ? withoutControls(text) : text);
  const tell = (text: string): void => void stderr.write(withStyleOnly(text, colors.stderr));
  return {
    style: createStyle(colors.stderr),
    dataStyle: createStyle(colors.stdout),
    data: (text) => write(stdout.isTTY && !text.endsWith("\n") ? `${text}\n` : text),
    show: (text) => void stdout.write(withStyleOnly(text, colors.stdout)),
    note: (text) => tell(`${text}\n`),
    print(pieces) {
      for (const { to, text } of pieces) {
        if (to === "stdout") write(text);
        else tell(text);
      }
    },
  };
}
