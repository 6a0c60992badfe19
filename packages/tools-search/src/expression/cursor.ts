import { invalidArgument, type ToolError } from "@toolcrib/core";

/** Reads an expression from left to right. */
export class Cursor {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  get isDone(): boolean {
    return this.at >= this.text.length;
  }

  /** Takes what a sticky expression matches here. */
  take(sticky: RegExp): RegExpExecArray | undefined {
    const found = this.look(sticky);
    if (found !== undefined) this.at += found[0].length;
    return found;
  }

  look(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.at;
    return sticky.exec(this.text) ?? undefined;
  }

  /** Takes one character. */
  takeCode(): number {
    const code = this.text.codePointAt(this.at) ?? 0;
    this.at += code > 0xffff ? 2 : 1;
    return code;
  }
}

/** The error for syntax that JavaScript does not have: what it is, and what to write. */
export function refusal(what: string, instead: string): ToolError<"invalid_arguments"> {
  return invalidArgument("query", `${what}; ${instead}`);
}

const shortEscapes: Readonly<Record<number, string>> = { 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r" };

/** Writes a character so that it means itself, in a set and outside of one. A line feed is `\n`, by which others know it. */
export function writeCode(code: number): string {
  const short = shortEscapes[code];
  if (short !== undefined) return short;
  if (code < 0x20 || code === 0x7f || (code >= 0xd800 && code <= 0xdfff))
    return `\\u${code.toString(16).padStart(4, "0")}`;
  const char = String.fromCodePoint(code);
  return /[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char;
}

/** Returns a letter in its other case; undefined if there is none that is one character and means the same to an expression. */
export function otherCase(code: number): number | undefined {
  const char = String.fromCodePoint(code);
  // `ß` in capitals is two letters, and `ı` in capitals is the `I` of `i`.
  const isOther = (one: string): boolean => one !== char && new RegExp(`^${writeCode(code)}$`, "iu").test(one);
  return [char.toLowerCase(), char.toUpperCase()].find(isOther)?.codePointAt(0);
}
