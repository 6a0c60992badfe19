import { stripTypeScriptTypes } from "node:module";

/** The name of a program in the positions of its errors. */
export const programName = "program";

/** A program that cannot be compiled. `line` and `column` are those of its text, from 1. */
export class SourceError extends Error {
  readonly line: number | undefined;
  readonly column: number | undefined;
  /** Node's reader of TypeScript has failed itself: it reads nothing more in this thread. */
  readonly isReaderBroken: boolean;

  constructor(message: string, { line, column }: Position, isReaderBroken = false) {
    super(message);
    this.line = line;
    this.column = column;
    this.isReaderBroken = isReaderBroken;
  }
}

export interface Position {
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** The engine's work on a source: `check` only parses it. Both throw a SyntaxError. */
export interface Compiler<Compiled> {
  check(source: string): void;
  compile(source: string): Compiled;
}

/** The text around a program, on lines of its own, so that the program's columns stay. */
type Wrapper = readonly [before: string, after: string];
const inFunction: Wrapper = ["(async () => {\n", "\n})"];
/** Behind the function nothing but `:` may follow, and nothing but `,` or `)` in the other: a text that both take leaves neither. */
const inChoice: Wrapper = ["(0 ? async () => {\n", "\n} : 0)"];

/**
 * Compiles the body of an async function. Types are stripped only from what is no JavaScript, as stripping changes plain JavaScript
 * (`a < b > (c)`). Throws a SourceError.
 */
export function compileBody<Compiled>(code: string, compiler: Compiler<Compiled>): Compiled {
  try {
    return compileAs(code, compiler);
  } catch (thrown) {
    if (!isSyntaxError(thrown)) throw thrown;
    if (passes(`${inFunction[0]}${code}\n)`, compiler)) {
      const before = code.slice(0, code.lastIndexOf("}")).split("\n");
      const at = { line: before.length, column: (before.at(-1) ?? "").length + 1 };
      throw new SourceError("there is one } too many", at);
    }
    const javaScript = new SourceError(thrown.message, positionIn(thrown.stack, code));
    const stripped = withoutTypes(code, javaScript);
    try {
      return compileAs(stripped, compiler);
    } catch (again) {
      if (!isSyntaxError(again)) throw again;
      throw new SourceError(again.message, positionIn(again.stack, stripped));
    }
  }
}

function compileAs<Compiled>(code: string, { check, compile }: Compiler<Compiled>): Compiled {
  try {
    check(inChoice.join(code));
    return compile(inFunction.join(code));
  } catch (thrown) {
    if (thrown instanceof Error && thrown.name === "RangeError") throw new SourceError("it is nested too deeply", {});
    throw thrown;
  }
}

function passes(source: string, { check }: Compiler<unknown>): boolean {
  try {
    check(source);
    return true;
  } catch {
    return false;
  }
}

/** Returns the first position in the program that a stack names: the engine counts bytes, and the lines around the program. */
export function positionIn(stack: unknown, code: string): Position {
  if (typeof stack !== "string") return {};
  const lines = ["", ...code.split("\n"), ""];
  for (const [, at, bytes] of stack.slice(0, 20_000).matchAll(/\bprogram:(\d+):(\d+)/g)) {
    const line = Number(at) - 1;
    const text = lines[line];
    // A program can write a stack, too.
    if (line < 1 || text === undefined) continue;
    return { line, column: Buffer.from(text).toString("utf8", 0, Number(bytes) - 1).length + 1 };
  }
  return {};
}

function isSyntaxError(thrown: unknown): thrown is Error {
  return thrown instanceof Error && thrown.name === "SyntaxError";
}

function withoutTypes(code: string, javaScript: SourceError): string {
  // Bun and Deno have no such function.
  if (typeof stripTypeScriptTypes !== "function") throw javaScript;
  const { emitWarning } = process;
  // That stripping is experimental is no news for who reads the program's output.
  process.emitWarning = () => undefined;
  try {
    const stripped = stripTypeScriptTypes(inFunction.join(code));
    return stripped.slice(inFunction[0].length, -inFunction[1].length);
  } catch (thrown) {
    throw typeError(thrown, javaScript, code);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Returns what the reader of TypeScript says where it came further than that of JavaScript, else the latter's error. */
function typeError(thrown: unknown, javaScript: SourceError, program: string): SourceError {
  const { message, stack = "", code } = thrown as Error & { code?: unknown };
  const line = Number(/^[^\n]*:(\d+)\n/.exec(stack)?.[1]) - 1 || undefined;
  const column = unindented(program.split("\n")[(line ?? 0) - 1], /\n( *)\^/.exec(stack)?.[1]?.length);
  if (code !== "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX" && code !== "ERR_INVALID_TYPESCRIPT_SYNTAX") {
    const message = `${javaScript.message}; it is nested too deeply to be read as TypeScript`;
    return new SourceError(message, javaScript, true);
  }
  if (code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") return new SourceError(unsupported(message), { line, column });
  const further = (line ?? 0) - (javaScript.line ?? 0) || (column ?? 0) - (javaScript.column ?? 0);
  return further > 0 ? new SourceError(message, { line, column }) : javaScript;
}

/** Returns the column of what stands behind so many places, in which a tab has four. */
function unindented(text = "", places?: number): number | undefined {
  if (places === undefined) return undefined;
  let column = 0;
  for (let at = 0; at < places; column += 1) at += text[column] === "\t" ? 4 : 1;
  return column + 1;
}

function unsupported(message: string): string {
  const instead = [
    [/enum/, "write an object: const Color = { Red: 0, Green: 1 }"],
    [/namespace|module/, "write plain functions and constants"],
    [/parameter property/, "assign the field in the constructor: this.x = x"],
    [/angle-bracket/, "write `x as T`"],
  ].find(([pattern]) => (pattern as RegExp).test(message))?.[1];
  return `${message.replace(/ in strip-only mode$/, "")}: only types that can be left out are${instead === undefined ? "" : `; ${String(instead)}`}`;
}
