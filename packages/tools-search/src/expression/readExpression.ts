import { clip, messageOf } from "@toolcrib/core/text";
import { Cursor, otherCase, refusal, writeCode } from "./cursor.ts";
import { type Escape, readEscape } from "./escapes.ts";
import { type Group, Groups } from "./groups.ts";
import { closedSets, readSet } from "./sets.ts";

/** An expression as JavaScript reads it in Unicode mode. */
export interface ReadExpression {
  readonly source: string;
  /** True if the expression itself asks for it, by `(?i)` at its start. */
  readonly ignoresCase: boolean;
}

/**
 * Reads an expression. JavaScript's syntax is taken as it is; that of other engines (grep, ripgrep, PCRE) is translated where it means
 * the same. Throws a ToolError that says what to write for what would mean something else here, or nothing.
 */
export function readExpression(text: string, isCaseSensitive: boolean): ReadExpression {
  const reader = new ExpressionReader(text, isCaseSensitive);
  const read = reader.read();
  try {
    new RegExp(read.source, "u");
  } catch (error) {
    // V8 quotes the whole pattern before the reason.
    const message = messageOf(error);
    const reason = clip(message.slice(message.lastIndexOf(": ") + 2));
    throw refusal(`Invalid regular expression: ${reason}`, "correct it, or leave out regex to search for it as it is");
  }
  return read;
}

/** Groups of PCRE that JavaScript does not have. */
const foreignGroups: readonly (readonly [RegExp, string, string])[] = [
  [/\(\*[A-Za-z_:=\d]*\)?/y, "a verb of PCRE, which is not supported", "leave it out"],
  [/\(\?>/y, "an atomic group, which is not supported", "write (?:…)"],
  [/\(\?\|/y, "a group that numbers its alternatives anew, which is not supported", "write (?:…)"],
  [/\(\?\(/y, "a condition, which is not supported", "write the cases out, with |"],
  [/\(\?(?:R|[+-]?\d+|&\w+|P>\w+)\)/y, "a recursion, which is not supported", "write it out"],
];

const repetition = /[*+?]|\{(?:\d+(?:,\d*)?|,\d+)\}/y;

class ExpressionReader {
  readonly #cursor: Cursor;
  readonly #groups = new Groups();
  readonly #parts: string[] = [];
  #closed: ReadonlySet<number> | undefined;
  /** True where letters of any case are meant anyway. */
  readonly #isAnyCase: boolean;
  readonly #startsAnyCase: boolean;
  /** True within `(?i:…)`. */
  #ignoresCase = false;

  constructor(text: string, isCaseSensitive: boolean) {
    this.#cursor = new Cursor(text);
    const start = this.#cursor.take(/\(\?[imsuU]*i[imsuU]*\)/y);
    this.#startsAnyCase = start !== undefined;
    this.#isAnyCase = this.#startsAnyCase || !isCaseSensitive;
  }

  read(): ReadExpression {
    const cursor = this.#cursor;
    while (!cursor.isDone) {
      if (cursor.take(/\|/y)) {
        this.#groups.endBranch();
        this.#parts.push("|");
      } else if (cursor.look(/\(/y)) {
        this.#open();
      } else if (cursor.take(/\)/y)) {
        this.#close();
      } else if (cursor.look(repetition)) {
        this.#repeat();
      } else {
        this.#addAtom();
      }
    }
    return { source: this.#parts.join(""), ignoresCase: this.#startsAnyCase };
  }

  #addAtom(): void {
    const cursor = this.#cursor;
    if (cursor.look(/\[/y)) {
      const start = cursor.at;
      this.#closed ??= closedSets(cursor.text);
      const set = readSet(cursor, this.#closed, this.#ignoresCase, this.#ignoresCase || this.#isAnyCase);
      // V8 says that it does not end.
      this.#add(set ?? cursor.text.slice(start), false);
      return;
    }
    if (cursor.look(/\\[\s\S]/y)) {
      this.#addEscape(readEscape(cursor, false));
      return;
    }
    const sign = cursor.take(/[.^$\\]/y);
    if (sign !== undefined) this.#add(sign[0], /[\^$]/.test(sign[0]));
    else this.#addCode(cursor.takeCode());
  }

  #addEscape(read: Escape): void {
    switch (read.kind) {
      case "code":
        this.#addCode(read.code);
        return;
      case "text":
        for (const char of read.text) this.#addCode(char.codePointAt(0) ?? 0);
        return;
      case "class":
        if (this.#ignoresCase && /^\\p/i.test(read.source))
          throw refusal("(?i) around \\p{…} is not supported", "write (?i) at the start");
        this.#add(read.source, false);
        return;
      case "place":
        if (read.source !== "") this.#add(read.source.length > 2 ? `(?:${read.source})` : read.source, true);
        return;
      case "reference":
        if (this.#ignoresCase) throw refusal("(?i) around a reference is not supported", "write (?i) at the start");
        // A digit behind it would belong to its number.
        this.#add(`(?:${this.#groups.refer(read)})`, true);
    }
  }

  #addCode(code: number): void {
    const other = this.#ignoresCase ? otherCase(code) : undefined;
    this.#add(other === undefined ? writeCode(code) : `[${writeCode(code)}${writeCode(other)}]`, false);
  }

  #add(source: string, isEmpty: boolean): void {
    this.#parts.push(source);
    this.#groups.addAtom(isEmpty);
  }

  #repeat(): void {
    const cursor = this.#cursor;
    const [found = ""] = cursor.take(repetition) ?? [];
    const [, low, comma, high] = /^\{(\d*)(,?)(\d*)\}$/.exec(found) ?? [];
    const least = low === undefined ? Number(found === "+") : Number(low);
    const most =
      low === undefined ? (found === "?" ? 1 : Infinity) : comma === "" ? least : high ? Number(high) : Infinity;
    this.#parts.push(low === "" ? `{0,${high}}` : found);
    this.#groups.repeat(least, most);
    if (cursor.take(/\?/y)) this.#parts.push("?");
    else if (cursor.look(/\+/y))
      throw refusal(`${found}+ is possessive or twice repeated in other engines`, `write ${found}`);
    if (cursor.look(repetition))
      throw refusal(
        `${found}${cursor.look(repetition)?.[0]} repeats a repetition`,
        `write (?:x${found})${cursor.look(repetition)?.[0]}`,
      );
  }

  #open(): void {
    const cursor = this.#cursor;
    if (cursor.take(/\(\?#[^)]*\)/y)) return;
    if (cursor.look(/\(\?#/y)) throw refusal("(?# begins a comment that does not end", "leave it out");
    const name = cursor.take(/\(\?P=(\w+)\)/y);
    if (name !== undefined) {
      this.#addEscape({ kind: "reference", number: undefined, name: name[1], shown: name[0] });
      return;
    }
    for (const [group, what, instead] of foreignGroups) {
      const found = cursor.look(group);
      if (found !== undefined) throw refusal(`${found[0]} is ${what}`, instead);
    }
    const named = cursor.take(/\(\?(?:P?<(?![=!])([^>(]*)>|'([^'(]*)')/y);
    if (named !== undefined) {
      const [, angled, quoted] = named;
      this.#enter(`(?<${angled ?? quoted}>`, { isCapture: true, name: angled ?? quoted });
      return;
    }
    const look = cursor.take(/\(\?(?::|<?[=!])/y);
    if (look !== undefined) {
      const [open] = look;
      this.#enter(open, { isEmpty: open !== "(?:", isUnsure: /[<!]/.test(open) });
      return;
    }
    const flags = cursor.take(/\(\?(\^?[A-Za-z]*)(?:-([A-Za-z]*))?([:)])/y);
    if (flags !== undefined) {
      const outer = this.#ignoresCase;
      const ignoresCase = this.#readFlags(flags[0], flags[1] ?? "", flags[2] ?? "");
      if (flags[3] === ":") this.#enter("(?:", {}, outer);
      this.#ignoresCase = ignoresCase;
      return;
    }
    cursor.take(/\(/y);
    this.#enter("(", { isCapture: true });
  }

  /** Returns whether case is ignored from here on. The other flags change nothing where a line is matched alone. */
  #readFlags(shown: string, on: string, off: string): boolean {
    if (/x/.test(on))
      throw refusal(
        `${shown} is not supported: spaces are part of the expression`,
        "write it without (?x) and its spaces",
      );
    if (/[^imsU]/.test(off) || /[^imsuU]/.test(on)) throw refusal(`${shown} is not supported`, "leave it out");
    if (off.includes("i") && this.#isAnyCase)
      throw refusal(
        `${shown} is not supported where case is ignored`,
        "pass case_sensitive=true and put (?i:…) around the rest",
      );
    if (this.#isAnyCase) return false;
    return on.includes("i") || (this.#ignoresCase && !off.includes("i"));
  }

  #enter(source: string, about: Partial<Group>, ignoresCase: boolean = this.#ignoresCase): void {
    this.#parts.push(source);
    this.#groups.open({ ...about, ignoresCase });
  }

  #close(): void {
    this.#parts.push(")");
    this.#ignoresCase = this.#groups.close()?.ignoresCase ?? this.#ignoresCase;
  }
}
