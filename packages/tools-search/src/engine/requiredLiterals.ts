/**
 * Strings of which a line must hold at least one for a regular expression to match. Undefined where nothing is known (a
 * character class alone, an optional part, …). It may miss a required string, but never returns one that is not required.
 */
export function requiredLiterals(source: string): string[] | undefined {
  return readExpression(source).literals;
}

/** Returns whether a regular expression can only match text that holds a line feed. May miss some that do. */
export function needsLineBreak(source: string): boolean {
  return readExpression(source).breaksLine;
}

/** Writes a text as an expression that matches it. */
export function escapeLiteral(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/** The facts known of a part: literals of which one is required, and whether a line feed is. */
interface Known {
  literals: string[] | undefined;
  breaksLine: boolean;
}

/** An escape, a set, the beginning of a group or a character, and what says how often it is repeated. */
const parts =
  /(\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\((?:\?(?::|<(?![=!])[^>]*>))?|[\s\S])((?:[*+?]|\{\d+(?:,\d*)?\})\??)?/gu;
const unknown: Known = { literals: undefined, breaksLine: false };

function readExpression(source: string): Known {
  const outer: Group[] = [];
  let group = new Group();
  for (const [, atom = "", quantifier = ""] of source.matchAll(parts)) {
    // Escapes to which more characters belong, back references, look-around and inline flags are not analysed.
    if (/^\\[xupPkc0-9]/.test(atom) || (atom === "(" && quantifier !== "") || (atom === ")" && outer.length === 0))
      return unknown;
    if (atom.startsWith("(")) {
      outer.push(group);
      group = new Group();
    } else if (atom === "|") {
      group.endAlternative();
    } else {
      const inner = atom === ")" ? group.end() : undefined;
      if (inner !== undefined) group = outer.pop() ?? new Group();
      group.add(inner, inner === undefined ? atom : "", quantifier);
    }
  }
  return outer.length > 0 ? unknown : group.end();
}

const mostAlternatives = 8;

/** Holds what is known of the alternatives of a group that were read, and of the one that is being read. */
class Group {
  #literals: string[] | undefined = [];
  #breaksLine = true;
  #best: string[] | undefined;
  #run = "";
  #breaksAlternative = false;

  add(inner: Known | undefined, atom: string, quantifier: string): void {
    const isOptional = /^[*?]|^\{0*[^1-9]/.test(quantifier);
    const literal = literalOf(atom);
    if (!isOptional) this.#breaksAlternative ||= literal === "\n" || inner?.breaksLine === true;
    if (literal !== undefined && !isOptional) {
      this.#run += literal;
      if (quantifier !== "") this.#endRun();
    } else if (!/^(?:[$^]|\\b)$/.test(atom) || quantifier !== "") {
      // Other parts match a character, so their neighbours in the pattern may be none in the text.
      this.#endRun();
      if (!isOptional) this.#offer(inner?.literals);
    }
  }

  endAlternative(): void {
    this.#endRun();
    this.#literals = this.#best && this.#literals?.concat(this.#best);
    this.#breaksLine &&= this.#breaksAlternative;
    this.#best = undefined;
    this.#breaksAlternative = false;
  }

  end(): Known {
    this.endAlternative();
    const isShort = this.#literals !== undefined && this.#literals.length <= mostAlternatives;
    return { literals: isShort ? this.#literals : undefined, breaksLine: this.#breaksLine };
  }

  #endRun(): void {
    if (this.#run !== "") this.#offer([this.#run]);
    this.#run = "";
  }

  /** Keeps the better of two sets: each is worth as much as its shortest member. */
  #offer(literals: string[] | undefined): void {
    const weight = (set: string[] | undefined): number => Math.min(...(set ?? [""]).map((one) => one.length));
    if (weight(literals) > weight(this.#best)) this.#best = literals;
  }
}

/** Returns the text that a part without its quantifier stands for, if there is only one. */
function literalOf(atom: string): string | undefined {
  if (atom === "\\n") return "\n";
  // An escaped digit was given up before.
  return /^(?:\\[^A-Za-z]|[^\\^$.*+?()[\]{}|\p{Cs}])$/u.test(atom) ? atom.replace("\\", "") : undefined;
}
