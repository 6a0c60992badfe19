/**
 * Returns how many steps an expression takes at most on a line of `length`, judged from its source and erring upwards: the product of the
 * ways through its parts. Infinity for a repeated group, a reference back and a look-around, which may take exponentially many.
 */
export function expressionSteps(source: string, length: number): number {
  const plain = source
    .replace(/\\[^1-9k]/gs, "x")
    .replace(/\[(?:\\.|[^\]])*\]/gs, "x")
    .replaceAll("(?:", "(");
  if (/\\|\(\?|\)[*+{]/.test(plain)) return Number.POSITIVE_INFINITY;
  const bars = plain.split("|").length - 1;
  let ways = plain.includes("(") ? 2 ** bars : bars + 1;
  let repeats = 1;
  for (const [quantifier, from, to] of plain.matchAll(/[*+]\??|\{(\d+)(?:,(\d*))?\}\??|\?/g)) {
    if (quantifier.startsWith("?")) ways *= 2;
    else if (from === undefined || to === "") ways *= length + 1;
    else ways *= Number(to ?? from) - Number(from) + 1;
    repeats += Number(to || from || 0) / 16;
  }
  const starts = plain.startsWith("^") && bars === 0 ? 1 : length + 1;
  return starts * ways * repeats + length;
}
