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
    const javaScript = new SourceError(thrown.message, positionIn(thrown.stack));
    const stripped = withoutTypes(code, javaScript);
    try {
      return compileAs(stripped, compiler);
    } catch (again) {
      if (!isSyntaxError(again)) throw again;
      throw new SourceError(again.message, positionIn(again.stack));
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

/** Returns the first position in the program that a stack names. */
export function positionIn(stack: unknown): Position {
  if (typeof stack !== "string") return {};
  for (const [, line, column] of stack.slice(0, 20_000).matchAll(/\bprogram:(\d+):(\d+)/g)) {
    // The line above the code has the function around it.
    if (Number(line) > 1) return { line: Number(line) - 1, column: Number(column) };
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
    throw typeError(thrown, javaScript);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Returns what the reader of TypeScript says where it came further than that of JavaScript, else the latter's error. */
function typeError(thrown: unknown, javaScript: SourceError): SourceError {
  const { message, stack = "", code } = thrown as Error & { code?: unknown };
  const line = Number(/^[^\n]*:(\d+)\n/.exec(stack)?.[1]) - 1 || undefined;
  const column = (/\n( *)\^/.exec(stack)?.[1]?.length ?? -1) + 1 || undefined;
  if (code !== "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX" && code !== "ERR_INVALID_TYPESCRIPT_SYNTAX") {
    const message = `${javaScript.message}; it is nested too deeply to be read as TypeScript`;
    return new SourceError(message, javaScript, true);
  }
  if (code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") return new SourceError(unsupported(message), { line, column });
  const further = (line ?? 0) - (javaScript.line ?? 0) || (column ?? 0) - (javaScript.column ?? 0);
  return further > 0 ? new SourceError(message, { line, column }) : javaScript;
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
