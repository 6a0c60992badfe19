/** Atoms of a source that can be read first or last, and the ways to read none of them. */
interface Part {
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly empty: number;
}

const tokens =
  /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|.)|\[(?:\\.|[^\]\\])*\]|\(\?:|[*+?]\??|\{\d+(?:,\d*)?\}\??|./gisu;
const assertion = /^(?:[$^]|\\b)$/i;
const nothing: Part = { first: [], last: [], empty: 1 };
const mostAtoms = 64;
const mostTerms = 1000;
/** Counted repetitions up to this are written out, others count as unbounded. */
const mostCopies = 8;

/** A character of every kind that a class without characters beyond ASCII tells apart: U+017F and U+212A equal s and k in another case. */
const samples = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
  ..."\u017f\u212a\u00a0\u2028\u00e9",
];

/**
 * Counts the steps from one atom of a regular expression to a next one. `undefined` if two ways to read the same text can meet at
 * the same atom, or if the expression is too large to tell: else each atom is reached once at most at each place of a text.
 */
export function countUniqueSteps(source: string): number | undefined {
  if (source.length > 1000) return undefined;
  try {
    new RegExp(source, "u");
    return new Paths(source.match(tokens) ?? []).count();
  } catch {
    return undefined;
  }
}

class Paths {
  readonly #tokens: readonly string[];
  readonly #sets: bigint[] = [];
  readonly #next: number[][] = [];
  #at = 0;
  #terms = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  /** Throws if there is no unique path. */
  count(): number {
    const { first } = this.#readAlternatives();
    const steps = [first, ...this.#next];
    if (steps.some((next) => new Set(next).size < next.length)) throw new Error("two ways");
    const size = this.#sets.length;
    const seen = new Set<number>();
    const pairs: [number, number][] = [];
    const add = (one: number, other: number) => {
      const key = Math.min(one, other) * size + Math.max(one, other);
      if (seen.has(key)) return;
      seen.add(key);
      if ((this.#setOf(one) & this.#setOf(other)) === 0n) return;
      if (one === other) throw new Error("two ways");
      pairs.push([one, other]);
    };
    for (const next of steps) for (const one of next) for (const other of next) if (one < other) add(one, other);
    for (const [one, other] of pairs)
      for (const left of this.#nextOf(one)) for (const right of this.#nextOf(other)) add(left, right);
    return steps.reduce((sum, next) => sum + next.length, 1);
  }

  #setOf(atom: number): bigint {
    return this.#sets[atom] ?? 0n;
  }

  #nextOf(atom: number): number[] {
    return this.#next[atom] ?? [];
  }

  #readAlternatives(): Part {
    let all = this.#readSequence();
    while (this.#tokens[this.#at] === "|") {
      this.#at += 1;
      all = either(all, this.#readSequence());
    }
    return all;
  }

  #readSequence(): Part {
    let part = nothing;
    while (this.#at < this.#tokens.length && !/^[|)]$/.test(this.#tokens[this.#at] ?? ""))
      part = this.#join(part, this.#readTerm());
    return part;
  }

  #readTerm(): Part {
    const start = this.#at;
    const part = this.#readAtom();
    const [, sign, from, comma, to] = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??$/.exec(this.#tokens[this.#at] ?? "") ?? [];
    if (sign === undefined && from === undefined) return part;
    const end = this.#at + 1;
    const least = sign === undefined ? Number(from) : Number(sign === "+");
    const most =
      sign === "?" ? 1 : sign !== undefined || (comma && !to) ? Number.POSITIVE_INFINITY : Number(to || from);
    let whole = part;
    if (most > mostCopies) {
      if (part.empty > 0) throw new Error("repeats nothing");
      this.#join(part, part);
      if (least === 0) whole = either(part, nothing);
    } else {
      // The copies nest from the last: a{1,3} is a(?:a(?:a)?)?
      whole = nothing;
      for (let copy = most; copy > 0; copy -= 1) {
        this.#at = start;
        whole = this.#join(copy === most ? part : this.#readAtom(), whole);
        if (copy > least) whole = either(whole, nothing);
      }
    }
    this.#at = end;
    return whole;
  }

  #readAtom(): Part {
    this.#terms += 1;
    if (this.#terms > mostTerms || this.#sets.length >= mostAtoms) throw new Error("too large");
    const token = this.#tokens[this.#at] ?? "";
    this.#at += 1;
    if (token.startsWith("(")) {
      const part = this.#readAlternatives();
      this.#at += 1;
      return part;
    }
    if (assertion.test(token)) return nothing;
    const atom = this.#sets.push(charactersOf(token)) - 1;
    this.#next.push([]);
    return { first: [atom], last: [atom], empty: 0 };
  }

  #join(left: Part, right: Part): Part {
    for (const atom of left.last) this.#nextOf(atom).push(...right.first);
    if (left.empty > 1 || right.empty > 1) throw new Error("two ways to read nothing");
    return {
      first: left.empty > 0 ? [...left.first, ...right.first] : left.first,
      last: right.empty > 0 ? [...left.last, ...right.last] : right.last,
      empty: left.empty * right.empty,
    };
  }
}

function either(one: Part, other: Part): Part {
  return { first: [...one.first, ...other.first], last: [...one.last, ...other.last], empty: one.empty + other.empty };
}

/** Returns a bit for each sample that an atom matches, with and without regard to case. Throws for what is no atom. */
function charactersOf(atom: string): bigint {
  if (/\\ud[89a-f]/i.test(atom)) throw new Error("half a character");
  const isWide = /[^\0-\x7f]|\\[pPux]/.test(atom);
  const bits = ["su", "isu"].flatMap((flags) => {
    const expression = new RegExp(`^${atom}$`, flags);
    return samples.map((sample) => ((isWide && sample > "\x7f") || expression.test(sample) ? "1" : "0"));
  });
  return BigInt(`0b${bits.join("")}`);
}
