import { posixClasses } from "@toolcrib/kit/files";
import { type Cursor, otherCase, refusal, writeCode } from "./cursor.ts";
import { readEscape } from "./escapes.ts";

type Range = readonly [from: number, to: number];

/** The classes of POSIX, `[[:alpha:]]`, as far as ASCII goes: pairs of first and last. White space has more than for git. */
const posix = new Map(Object.entries({ ...posixClasses, ascii: "\0\x7f", space: "\t\r  ", word: "09AZaz__" }));

/**
 * Reads a set, which begins here, and writes it for JavaScript; in both cases of its letters if `ignoresCase`. `isAnyCase` says whether
 * it will match letters of any case, written or not. `closed` is what `closedSets` returns. Undefined for one that does not end.
 */
export function readSet(
  cursor: Cursor,
  closed: ReadonlySet<number>,
  ignoresCase: boolean,
  isAnyCase: boolean,
): string | undefined {
  const start = cursor.at;
  const isNested = closed.has(start);
  const named = cursor.look(/\[:(\^?[a-z]+):\]/y);
  if (named !== undefined && posix.has(named[1]?.replace("^", "") ?? ""))
    throw refusal(`${named[0]} alone is a set of its letters`, `write [${named[0]}]`);
  cursor.take(/\[/y);
  const isNegated = cursor.take(/\^/y) !== undefined;
  const set = new SetWriter(ignoresCase, isAnyCase);
  if (cursor.look(/\]/y)) {
    const ends = /\\[\s\S]|\]/g;
    ends.lastIndex = cursor.at + 1;
    let isClosed = false;
    for (let next = ends.exec(cursor.text); next !== null && !isClosed; next = ends.exec(cursor.text))
      isClosed = next[0] === "]";
    cursor.take(/\]/y);
    if (!isClosed && isNegated) return ".";
    if (!isClosed) throw refusal("[] holds nothing, so it never matches", "write the characters between [ and ]");
    if (isNegated)
      throw refusal("[^] is any character in JavaScript, and begins a set in other engines", "write . or [^\\]…]");
    set.addCode(93);
  }
  for (;;) {
    if (cursor.isDone) return undefined;
    if (cursor.take(/\]/y)) return set.write(isNegated);
    const member = readMember(cursor, isNested, set);
    if (member === undefined) continue;
    if (!cursor.look(/-(?!\])/y)) {
      set.addCode(member);
      continue;
    }
    refuseOperation(cursor);
    cursor.take(/-/y);
    const to = readMember(cursor, isNested, set);
    if (to === undefined) throw refusal("a - before a class is no range", "write it as \\-, or last");
    if (to < member)
      throw refusal(`the range ${cursor.text.slice(start, cursor.at)} is out of order`, "give the lower end first");
    set.addRange([member, to]);
  }
}

/** Reads a member: returns the character, or adds a class and returns undefined. */
function readMember(cursor: Cursor, isNested: boolean, set: SetWriter): number | undefined {
  refuseOperation(cursor);
  const named = cursor.take(/\[:(\^?)(\w+):\]/y);
  if (named !== undefined) {
    const ranges = posix.get(named[2] ?? "");
    if (ranges === undefined) throw refusal(`${named[0]} is no class of characters`, "write [[:alpha:]] or the like");
    const codes = Array.from(ranges.matchAll(/../gs), ([pair]): Range => [pair.charCodeAt(0), pair.charCodeAt(1)]);
    set.addNamed(codes, named[1] === "^");
    return undefined;
  }
  if (cursor.look(/\[/y) && (isNested || cursor.look(/\[(?:[.=].{0,40}?[.=]|:[<>]:)\]/y)))
    throw refusal(
      "a [ within [ ] begins a set of its own in other engines",
      "write \\[ for the character, or one set alone",
    );
  if (!cursor.look(/\\/y)) return cursor.takeCode();
  if (cursor.look(/\\$/y)) {
    cursor.at += 1;
    return undefined;
  }
  const read = readEscape(cursor, true);
  if (read.kind === "code") return read.code;
  if (read.kind === "text") for (const char of read.text) set.addCode(char.codePointAt(0) ?? 0);
  if (read.kind === "class" && read.inside !== undefined) set.addClass(read.inside);
  return undefined;
}

function refuseOperation(cursor: Cursor): void {
  const operation = cursor.look(/&&|~~|--/y);
  if (operation === undefined) return;
  throw refusal(
    `${operation[0]} within [ ] is an operation on sets in other engines`,
    `write \\${operation[0][0]} once`,
  );
}

/**
 * Lists where the `[` stand whose end an engine with sets within sets finds. Once for a whole expression: its sets may be many, and each
 * may hold many more.
 */
export function closedSets(text: string): ReadonlySet<number> {
  const closed = new Set<number>();
  const open: number[] = [];
  for (const part of text.matchAll(/\\[\s\S]|\[:\^?\w+:\]|(\[)\^?\]?|(\])|[\s\S]/g)) {
    if (part[1] !== undefined) open.push(part.index);
    const start = part[2] === undefined ? undefined : open.pop();
    if (start !== undefined) closed.add(start);
  }
  return closed;
}

/** Lists the letters of a range in the other case, as far as ASCII goes. */
function otherLetters([from, to]: Range): readonly Range[] {
  return (
    [
      [65, 90, 32],
      [97, 122, -32],
    ] as const
  ).flatMap(([first, last, shift]): Range[] => {
    const [low, high] = [Math.max(from, first), Math.min(to, last)];
    return low <= high ? [[low + shift, high + shift]] : [];
  });
}

class SetWriter {
  #source = "";
  readonly #ignoresCase: boolean;
  readonly #isAnyCase: boolean;

  constructor(ignoresCase: boolean, isAnyCase: boolean) {
    this.#ignoresCase = ignoresCase;
    this.#isAnyCase = isAnyCase;
  }

  addCode(code: number): void {
    this.addRange([code, code]);
  }

  addRange([from, to]: Range): void {
    this.#write(from, to);
    if (!this.#ignoresCase) return;
    if (from === to) {
      const other = otherCase(from);
      if (other !== undefined) this.#write(other, other);
    } else if (to > 0x7f) {
      throw refusal("(?i) around a range beyond ASCII is not supported", "write (?i) at the start");
    } else {
      for (const range of otherLetters([from, to])) this.#write(...range);
    }
  }

  addNamed(ranges: readonly Range[], isNegated: boolean): void {
    if (!isNegated) {
      for (const range of ranges) this.addRange(range);
      return;
    }
    // What a class leaves out is what it would match in no case. `ſ` and the Kelvin sign are `s` and `k` in another.
    const named = this.#isAnyCase ? ranges.flatMap((range) => [range, ...otherLetters(range)]) : [...ranges];
    const holds = (code: number): boolean => named.some(([from, to]) => from <= code && code <= to);
    if (this.#isAnyCase && holds(0x73)) named.push([0x17f, 0x17f]);
    if (this.#isAnyCase && holds(0x6b)) named.push([0x212a, 0x212a]);
    let next = 0;
    for (const [from, to] of [...named.toSorted(([one], [other]) => one - other), [0x110000, 0x110000] as const]) {
      if (from > next) this.#write(next, from - 1);
      next = Math.max(next, to + 1);
    }
  }

  addClass(source: string): void {
    if (this.#ignoresCase && /^\\p/i.test(source))
      throw refusal("(?i) around \\p{…} is not supported", "write (?i) at the start");
    this.#source += source;
  }

  write(isNegated: boolean): string {
    return `[${isNegated ? "^" : ""}${this.#source}]`;
  }

  #write(from: number, to: number): void {
    const end = (code: number): string => (code === 45 ? "\\-" : writeCode(code));
    this.#source += from === to ? end(from) : `${end(from)}-${to > 0xffff ? `\\u{${to.toString(16)}}` : end(to)}`;
  }
}
