import type {
  ArithmeticExpansionPart,
  CommandExpansionPart,
  HereDocBody,
  ParameterExpansionPart,
  SyntaxNode,
  Word,
  WordPart,
} from "unbash";
import { readBare, readDollarQuoted, readQuoted } from "./text.ts";

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

export function readWord(word: Word, context: WordContext): ReadWord {
  const state: WordState = { value: "", pattern: false, expanded: false, splits: false, variables: [] };
  if (context.line.slice(word.pos, word.end) !== word.text) context.fail("A word in it could not be read.");
  const parts = word.parts ?? [{ type: "Literal", pos: word.pos, end: word.end, text: word.text, value: word.value }];
  let at = word.pos;
  for (const part of parts) {
    if (part.pos !== at) context.fail("A word in it could not be read.");
    at = part.end;
    readPart(part, word, state, context);
  }
  if (at !== word.end) context.fail("A word in it could not be read.");
  const kind = state.expanded ? "expanded" : state.pattern ? "pattern" : "literal";
  return { value: state.expanded ? word.text : state.value, kind, splits: state.splits, variables: state.variables };
}

/** Reads the body of a here-document without quotes, all of it data; answers with the variables that it expands. */
export function readDocument({ pos, end, parts }: HereDocBody, context: WordContext): readonly string[] {
  const state: WordState = { value: "", pattern: false, expanded: false, splits: false, variables: [] };
  let at = pos;
  for (const part of parts ?? [{ type: "Literal" as const, pos, end, text: "", value: "" }]) {
    if (part.pos !== at) context.fail("A here-document in it could not be read.");
    at = part.end;
    if (part.type === "Literal") report(readQuoted(context.line.slice(part.pos, part.end), true).problem, context);
    else readExpansion(part, state, context);
  }
  if (at !== end) context.fail("A here-document in it could not be read.");
  return state.variables;
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
      if (part.text !== `'${text}'` || text.includes("'")) context.fail("A quote in it could not be read.");
      state.value += text;
      return;
    }
    case "DoubleQuoted":
      readDoubleQuoted(part, state, context);
      return;
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

function readDoubleQuoted(part: WordPart & { type: "DoubleQuoted" }, state: WordState, context: WordContext): void {
  let at = part.pos + 1;
  for (const child of part.parts) {
    if (child.pos !== at) context.fail("A quote in it could not be read.");
    at = child.end;
    if (child.type === "Literal") {
      const quoted = readQuoted(context.line.slice(child.pos, child.end));
      report(quoted.problem, context);
      state.value += quoted.value;
    } else readExpansion(child, state, context);
  }
  if (at !== part.end - 1 || !part.text.startsWith('"') || !part.text.endsWith('"')) {
    context.fail("A quote in it could not be read.");
  }
}

function readExpansion(part: WordPart, state: WordState, context: WordContext): void {
  state.expanded = true;
  if (context.line.slice(part.pos, part.end) !== part.text) context.fail("An expansion in it could not be read.");
  switch (part.type) {
    case "SimpleExpansion":
      if (!/^\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9?#$!@*-])$/.test(part.text))
        context.fail("An expansion in it could not be read.");
      state.splits ||= part.text === "$@" || part.text === "$*";
      state.variables.push(part.text.slice(1));
      return;
    case "ParameterExpansion":
      readParameter(part, state, context);
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
      context.readOther(part, "An expansion in it could not be read.");
      return;
  }
}

/** Reads `${x}`, `${#x}`, `${x:-word}` and its like, `${x#pattern}` and its like. The other forms are bash's, assign, or compute. */
function readParameter(part: ParameterExpansionPart, state: WordState, context: WordContext): void {
  const { parameter, prefix, index, operation } = part;
  const named = /^(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[?#$!@*-])$/.test(parameter);
  if (!named || prefix === "!" || index !== undefined) {
    context.fail("An expansion in it could not be read.");
    return;
  }
  state.variables.push(parameter);
  state.splits ||= parameter === "@" || parameter === "*";
  const before = context.line.slice(part.pos, operation ? operation.pos : part.end - 1);
  if (before !== `\${${prefix ?? ""}${parameter}`) {
    context.fail("An expansion in it could not be read.");
    return;
  }
  if (operation === undefined) return;
  if (prefix !== undefined) {
    context.fail("An expansion in it could not be read.");
    return;
  }
  if (operation.type !== "Remove" && (operation.type !== "Default" || operation.operator.includes("="))) {
    context.fail("It has an expansion that assigns, computes or works only in bash.");
    return;
  }
  const { operand, operator } = operation;
  const around = context.line.slice(part.pos, operand.pos) + context.line.slice(operand.end, part.end);
  // Quotes within are read differently inside and outside double quotes, and by each shell.
  const plain = operation.type === "Remove" ? /^[A-Za-z0-9_./*?:@=,-]*$/ : /^[A-Za-z0-9_./:@=,+% -]*$/;
  if (around !== `\${${parameter}${operator}}` || !plain.test(literalText(operand))) {
    context.fail("An expansion in it could not be read.");
    return;
  }
  for (const each of operand.parts ?? []) {
    if (each.type.endsWith("Expansion")) readExpansion(each, state, context);
  }
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
