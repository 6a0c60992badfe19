import { attempt, canonicalJson } from "@toolcrib/core/internal";

/** The most work, in characters of values times those of texts, that looking for values takes; beyond it they count as not shown. */
const mostWork = 500_000_000;
/** The most characters of a value that looking for it compares at each place, and places where a number is looked at. */
const [mostCompared, mostPlaces] = [250, 1000];

/** Returns whether texts show a JSON value: one of them is the same JSON, or together they hold each of its values. */
export function isShown(data: unknown, texts: readonly string[]): boolean {
  const json = attempt(() => canonicalJson(data));
  if (texts.some((text) => sameJson(text, json))) return true;
  const whole = texts.join("\n");
  const values = new Set(valuesIn(data));
  const compared = [...values].reduce((sum: number, value) => sum + Math.min(String(value).length, mostCompared), 0);
  return compared * whole.length <= mostWork && [...values].every((value) => holds(whole, value));
}

function sameJson(text: string, json: string | undefined): boolean {
  return json !== undefined && /^\s*[[{"\w-]/.test(text) && attempt(() => canonicalJson(JSON.parse(text))) === json;
}

/** Lists texts, numbers and truth values at any depth. */
function valuesIn(data: unknown): (string | number | boolean)[] {
  const found: (string | number | boolean)[] = [];
  const waiting = [data];
  for (let value = waiting.pop(); waiting.length > 0 || value !== undefined; value = waiting.pop()) {
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") found.push(value);
    else if (typeof value === "object" && value !== null) for (const part of Object.values(value)) waiting.push(part);
  }
  return found;
}

function holds(text: string, value: string | number | boolean): boolean {
  if (typeof value === "string") {
    const plain = value.trim();
    return text.includes(plain) || text.includes(JSON.stringify(plain).slice(1, -1));
  }
  // Not as a part of another number or word.
  const word = String(value);
  for (let at = text.indexOf(word), places = 0; at >= 0 && places < mostPlaces; at = text.indexOf(word, at + 1)) {
    places += 1;
    const [before, after] = [text[at - 1] ?? "", text.slice(at + word.length, at + word.length + 2)];
    if (!/[\w.]/.test(before) && !/^(?:\w|\.\d)/.test(after)) return true;
  }
  return false;
}
