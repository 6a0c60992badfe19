/** `lines 4, 17 and 30`; `others` are counted only. */
export function listLines(lines: readonly number[], others: number): string {
  const words = others > 0 ? [...lines, `${others} more`] : [...lines];
  const last = words.pop();
  return `${lines.length > 1 ? "lines" : "line"} ${words.length > 0 ? `${words.join(", ")} and ` : ""}${last}`;
}
