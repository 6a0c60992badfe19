/** What one group, or the whole source, could make a backtracking matcher try. */
interface Group {
  /** Ways through the alternatives that are complete. */
  alternatives: number;
  /** Ways through the current alternative. */
  ways: number;
  /** Quantifiers without an upper bound, each as many ways as the text is long. */
  unbounded: number;
}

const quantifier = /([*+?])\??|\{(\d+)(,?)(\d*)\}\??/y;

/**
 * How many steps a regular expression takes at most on a text of `length`, judged from its source and erring upwards.
 * `Infinity` for a repeated group, a back-reference or look-around, which may take exponentially many.
 */
export function patternSteps(source: string, length: number): number {
  const plain = source.replace(/\\[^1-9k]/gs, "x").replace(/\[(?:\\.|[^\]])*\]/gs, "x");
  if (/\\|\(\?[^:]/.test(plain)) return Number.POSITIVE_INFINITY;
  const whole: Group = { alternatives: 0, ways: 1, unbounded: 0 };
  const open: Group[] = [whole];
  let repeats = 0;
  let isAlternation = false;
  for (let at = 0; at < plain.length; ) {
    const group = open.at(-1) as Group;
    const character = plain[at];
    at += 1;
    if (character === "(") {
      open.push({ alternatives: 0, ways: 1, unbounded: 0 });
      if (plain.startsWith("?:", at)) at += 2;
      continue;
    }
    if (character === "|") {
      isAlternation ||= group === whole;
      group.alternatives += group.ways;
      group.ways = 1;
      continue;
    }
    const isGroup = character === ")" && open.length > 1;
    const part: Group = isGroup ? (open.pop() as Group) : { alternatives: 0, ways: 1, unbounded: 0 };
    const outer = open.at(-1) as Group;
    quantifier.lastIndex = at;
    const found = quantifier.exec(plain);
    if (found) at = quantifier.lastIndex;
    const [least, most] = found ? boundsOf(found) : [1, 1];
    if (isGroup && most === Number.POSITIVE_INFINITY) return most;
    const inside = part.alternatives + part.ways;
    if (most === Number.POSITIVE_INFINITY) outer.unbounded += 1;
    else outer.ways *= (most - least + 1) * inside ** most;
    outer.unbounded += part.unbounded * (isGroup ? most : 0);
    repeats += Math.max(Number.isFinite(most) ? most : 0, least);
  }
  const starts = plain.startsWith("^") && !isAlternation ? 1 : length + 1;
  const ways = whole.alternatives + whole.ways;
  return starts * ways * (length + 1) ** whole.unbounded * (1 + repeats / 16) + length;
}

function boundsOf([, sign, from, comma, to]: RegExpExecArray): [least: number, most: number] {
  if (sign === "?") return [0, 1];
  if (sign !== undefined) return [sign === "+" ? 1 : 0, Number.POSITIVE_INFINITY];
  const least = Number(from);
  if (comma === "") return [least, least];
  return [least, to === "" ? Number.POSITIVE_INFINITY : Number(to)];
}
