import type {
  ArithmeticExpansionPart,
  CommandExpansionPart,
  HereDocBody,
  ParameterExpansionPart,
  SyntaxNode,
  Word,
  WordPart,
} from "unbash";
import { readBare, readDollarQuoted, readQuoted, type Span } from "./text.ts";

/** A word after quotes were removed. */
export interface ReadWord {
  /** As the program gets it; as written when the word holds an expansion. */
  readonly value: string;
  /** `pattern`: the shell replaces it by names of files that match. `expanded`: part of it is not known. */
  readonly kind: "literal" | "pattern" | "expanded";
  /** True if an expansion in it stands outside quotes, so that the word may become several or none. */
  readonly splits: boolean;
  /** Names of the variables that it expands. */
  readonly variables: readonly string[];
  /** True if the shell takes it as an assignment of a builtin: `export NAME=value`. */
  readonly assigns?: boolean;
}

/** The input and callbacks of the reader of words. */
export interface WordContext {
  readonly line: string;
  readonly isBash: boolean;
  fail(reason: string): void;
  /** Reads the commands of a substitution. */
  readSubstitution(part: CommandExpansionPart): void;
  /** Reports a part that is not understood, and collects the commands in it all the same. */
  readOther(part: SyntaxNode, reason: string): void;
}

interface WordState {
  value: string;
  pattern: boolean;
  expanded: boolean;
  splits: boolean;
  variables: string[];
}

const newState = (): WordState => ({ value: "", pattern: false, expanded: false, splits: false, variables: [] });

const unreadWord = "A word in it could not be read.";
const unreadQuote = "A quote in it could not be read.";
const unreadDocument = "A here-document in it could not be read.";
const unreadExpansion = "An expansion in it could not be read.";

/** Matches a word whose characters mean themselves wherever they stand, as those of most words do. */
const plain = /^[\w./:@%+,=-]+$/;

export function readWord(word: Word, context: WordContext): ReadWord {
  if (context.line.slice(word.pos, word.end) !== word.text) context.fail(unreadWord);
  if (word.parts === undefined && plain.test(word.text))
    return { value: word.text, kind: "literal", splits: false, variables: [] };
  const state = newState();
  const whole = { type: "Literal", pos: word.pos, end: word.end, text: word.text, value: word.value } as const;
  readParts(word.parts ?? [whole], word, unreadWord, context, (part) => readPart(part, word, state, context));
  const kind = state.expanded ? "expanded" : state.pattern ? "pattern" : "literal";
  return { value: state.expanded ? word.text : state.value, kind, splits: state.splits, variables: state.variables };
}

/** Reads the body of a here-document without quotes, all of it data; answers with the variables that it expands. */
export function readDocument({ pos, end, parts }: HereDocBody, context: WordContext): readonly string[] {
  const state = newState();
  const whole = { type: "Literal", pos, end, text: "", value: "" } as const;
  readParts(parts ?? [whole], { pos, end }, unreadDocument, context, (part) =>
    readQuotedPart(part, state, context, true),
  );
  return state.variables;
}

/** Reads parts one after the other. Together they must be the whole stretch. */
function readParts<Part extends WordPart>(
  parts: readonly Part[],
  { pos, end }: Span,
  problem: string,
  context: WordContext,
  read: (part: Part) => void,
): void {
  let at = pos;
  for (const part of parts) {
    if (part.pos !== at) context.fail(problem);
    at = part.end;
    read(part);
  }
  if (at !== end) context.fail(problem);
}

function readPart(part: WordPart, word: Word, state: WordState, context: WordContext): void {
  switch (part.type) {
    case "Literal":
    case "Glob": {
      const text = context.line.slice(part.pos, part.end);
      const bare = readBare(text, part.pos === word.pos, context.line.slice(part.end, word.end));
      report(bare.problem, context);
      state.value += bare.value;
      state.pattern ||= bare.pattern || part.type === "Glob";
      return;
    }
    case "SingleQuoted": {
      const text = context.line.slice(part.pos + 1, part.end - 1);
      if (part.text !== `'${text}'` || text.includes("'")) context.fail(unreadQuote);
      state.value += text;
      return;
    }
    case "DoubleQuoted": {
      const inside = { pos: part.pos + 1, end: part.end - 1 };
      readParts(part.parts, inside, unreadQuote, context, (child) => readQuotedPart(child, state, context));
      if (!part.text.startsWith('"') || !part.text.endsWith('"')) context.fail(unreadQuote);
      return;
    }
    case "AnsiCQuoted": {
      if (!context.isBash) context.fail("It has $'…', which sh and bash read differently.");
      const text = context.line.slice(part.pos, part.end);
      const value = readDollarQuoted(text);
      if (value === undefined || text !== part.text) context.fail("It has an escape in $'…' that is not read.");
      state.value += value ?? part.value;
      return;
    }
    default:
      // A number is one word.
      state.splits ||= part.type !== "ArithmeticExpansion" && !["$?", "$#", "$$", "$!"].includes(part.text);
      readExpansion(part, state, context);
  }
}

/** Reads a part of a text in double quotes, or of a here-document. */
function readQuotedPart(part: WordPart, state: WordState, context: WordContext, inDocument = false): void {
  if (part.type !== "Literal") {
    readExpansion(part, state, context);
    return;
  }
  const { value, problem } = readQuoted(context.line.slice(part.pos, part.end), inDocument);
  report(problem, context);
  state.value += value;
}

function readExpansion(part: WordPart, state: WordState, context: WordContext): void {
  state.expanded = true;
  if (context.line.slice(part.pos, part.end) !== part.text) context.fail(unreadExpansion);
  switch (part.type) {
    case "SimpleExpansion":
      if (!/^\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9?#$!@*-])$/.test(part.text)) context.fail(unreadExpansion);
      state.splits ||= part.text === "$@" || part.text === "$*";
      state.variables.push(part.text.slice(1));
      return;
    case "ParameterExpansion":
      report(readParameter(part, state, context), context);
      return;
    case "CommandExpansion":
      context.readSubstitution(part);
      return;
    case "ArithmeticExpansion":
      readArithmetic(part, context);
      return;
    case "BraceExpansion":
      context.readOther(part, "It has a list in braces, which sh and bash read differently.");
      return;
    case "ProcessSubstitution":
      context.readOther(part, "It has a process substitution.");
      return;
    default:
      context.readOther(part, unreadExpansion);
      return;
  }
}

/**
 * Reads `${x}`, `${#x}`, `${x:-word}` and its like, `${x#pattern}` and its like. Returns why not: the other forms are bash's, assign, or
 * compute.
 */
function readParameter(part: ParameterExpansionPart, state: WordState, context: WordContext): string | undefined {
  const { parameter, prefix, index, operation } = part;
  const named = /^(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[?#$!@*-])$/.test(parameter);
  if (!named || prefix === "!" || index !== undefined) return unreadExpansion;
  state.variables.push(parameter);
  state.splits ||= parameter === "@" || parameter === "*";
  const before = context.line.slice(part.pos, operation ? operation.pos : part.end - 1);
  if (before !== `\${${prefix ?? ""}${parameter}`) return unreadExpansion;
  if (operation === undefined) return undefined;
  if (prefix !== undefined) return unreadExpansion;
  if (operation.type !== "Remove" && (operation.type !== "Default" || operation.operator.includes("=")))
    return "It has an expansion that assigns, computes or works only in bash.";
  const { operand, operator } = operation;
  const around = context.line.slice(part.pos, operand.pos) + context.line.slice(operand.end, part.end);
  // Quotes within are read differently inside and outside double quotes, and by each shell.
  const plain = operation.type === "Remove" ? /^[A-Za-z0-9_./*?:@=,-]*$/ : /^[A-Za-z0-9_./:@=,+% -]*$/;
  if (around !== `\${${parameter}${operator}}` || !plain.test(literalText(operand))) return unreadExpansion;
  for (const each of operand.parts ?? []) if (each.type.endsWith("Expansion")) readExpansion(each, state, context);
  return undefined;
}

/** Returns the text of a word without its expansions. */
function literalText(word: Word): string {
  if (word.parts === undefined) return word.text;
  return word.parts.map((part) => (part.type.endsWith("Expansion") ? "" : part.text)).join("");
}

/** Numbers alone: a name in an expression is computed in turn, and its value may start a command. */
function readArithmetic(part: ArithmeticExpansionPart, context: WordContext): void {
  const text = context.line.slice(part.pos, part.end);
  if (!text.startsWith("$((") || !text.endsWith("))") || !/^[0-9+*/%()\s-]*$/.test(text.slice(3, -2))) {
    context.fail("It computes with more than numbers.");
  }
}

function report(problem: string | undefined, context: WordContext): void {
  if (problem !== undefined) context.fail(problem);
}
