/** Colours text for a terminal, or leaves it as it is. */
export interface Style {
  dim(text: string): string;
  bold(text: string): string;
  red(text: string): string;
  green(text: string): string;
  cyan(text: string): string;
}

export function createStyle(color: boolean): Style {
  const paint =
    (open: number, close: number) =>
    (text: string): string =>
      color && text !== "" ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return { dim: paint(2, 22), bold: paint(1, 22), red: paint(31, 39), green: paint(32, 39), cyan: paint(36, 39) };
}

/** FORCE_COLOR (https://force-color.org) decides, else NO_COLOR (https://no-color.org), else whether it is a terminal. */
export function wantsColor(stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  if (env.NO_COLOR) return false;
  return stream.isTTY === true && env.TERM !== "dumb";
}
