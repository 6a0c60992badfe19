import { styleText } from "node:util";
import { withoutControls } from "@toolcrib/core/text";

export type Paint = (text: string) => string;

export type Style = Readonly<Record<(typeof formats)[number], Paint>>;

const formats = ["dim", "bold", "italic", "underline", "red", "green", "cyan"] as const;

/** Makes a style. `wantsColor` decides on `color`, not `styleText`, which knows the streams of this process only. */
export function createStyle(color: boolean): Style {
  const paint =
    (format: keyof Style): Paint =>
    (text) =>
      color && text !== "" ? styleText(format, text, { validateStream: false }) : text;
  return Object.fromEntries(formats.map((format) => [format, paint(format)])) as Style;
}

const styleCodes = /(\u001b\[(?:1|2|22|3|23|4|24|31|32|36|39)m)/;

/** Makes text for a terminal: without control characters, but for line breaks, tabs and, with `color`, the codes of a Style. */
export function withStyleOnly(text: string, color: boolean): string {
  if (!color) return withoutControls(text);
  return text
    .split(styleCodes)
    .map((part, index) => (index % 2 === 1 ? part : withoutControls(part)))
    .join("");
}

/**
 * Returns whether to use colours: FORCE_COLOR (https://force-color.org) decides, else NO_COLOR (https://no-color.org), else
 * whether it is a terminal.
 */
export function wantsColor(stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  if (env.NO_COLOR) return false;
  return stream.isTTY === true && env.TERM !== "dumb";
}

/** Returns whether nothing that was printed may change in place: on a dumb terminal, or where the user wants lines, for a screen reader, say. */
export function isPlain({ TERM, TOOLCRIB_PLAIN = "" }: NodeJS.ProcessEnv): boolean {
  return TERM === "dumb" || !["", "0"].includes(TOOLCRIB_PLAIN);
}
