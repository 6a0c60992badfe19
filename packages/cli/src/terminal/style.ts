import { withoutControls } from "@toolcrib/core/text";

type Paint = (text: string) => string;

/** Colours text for a terminal, or leaves it as it is. */
export type Style = Readonly<Record<"dim" | "bold" | "red" | "green" | "cyan", Paint>>;

export function createStyle(color: boolean): Style {
  const paint =
    (open: number, close: number): Paint =>
    (text) =>
      color && text !== "" ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return { dim: paint(2, 22), bold: paint(1, 22), red: paint(31, 39), green: paint(32, 39), cyan: paint(36, 39) };
}

const styleCodes = /(\u001b\[(?:1|2|22|31|32|36|39)m)/;

/** Text for a terminal without control characters, but for line breaks, tabs and, with `color`, the codes of a Style. */
export function withStyleOnly(text: string, color: boolean): string {
  if (!color) return withoutControls(text);
  return text
    .split(styleCodes)
    .map((part, index) => (index % 2 === 1 ? part : withoutControls(part)))
    .join("");
}

/** FORCE_COLOR (https://force-color.org) decides, else NO_COLOR (https://no-color.org), else whether it is a terminal. */
export function wantsColor(stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  if (env.NO_COLOR) return false;
  return stream.isTTY === true && env.TERM !== "dumb";
}
