import {
  type CaseItem,
  type CommandExpansionPart,
  forEachChild,
  type ParsedScript,
  type PipelineNode,
  parse,
  type Statement,
  type SyntaxNode,
  type Word,
} from "unbash";
import { isBehindFirst } from "./builtins.ts";
import { type Dialect, type LineContext, LineOutput } from "./lineContext.ts";
import { readRedirection } from "./readRedirection.ts";
import { readSimpleCommand, simpleCommand } from "./readSimpleCommand.ts";
import { type ReadWord, readWord } from "./readWord.ts";
import type { ShellLine } from "./shellLine.ts";
import { longestLine, onlyGaps, type Span, textProblem } from "./text.ts";

const deepest = 24;

const bash = /^(?:\/(?:usr\/(?:local\/)?)?bin\/)?bash$/;
const sh = /^(?:\/(?:usr\/)?bin\/)?(?:sh|dash)$/;

/** Options that say how a line will be read. */
export interface ShellLineOptions {
  /** The shell that will run it; `/bin/sh` by default. */
  readonly shell?: string | undefined;
  /** The system that it will run on; this one by default. Where it is not Linux, `sh` may be bash 3.2. */
  readonly platform?: string | undefined;
}

/** Reads a command as the shell would, without running anything. It never throws. */
export function readShellLine(
  command: string,
  { shell = "/bin/sh", platform = process.platform }: ShellLineOptions = {},
): ShellLine {
  const output = new LineOutput();
  const isBash = bash.test(shell);
  if (!isBash && !sh.test(shell)) output.unreadable = "It is run by a shell whose syntax cannot be parsed.";
  try {
    readScript(command, { isBash, mayBeOld: platform !== "linux" }, output, 0);
  } catch {
    output.unreadable ??= "It could not be read.";
  }
  return output;
}

/** Reads a script into `output`: the line itself, or the text of a `sh -c`. */
function readScript(line: string, dialect: Dialect, output: LineOutput, depth: number): void {
  const reader = new LineReader(line, dialect, output, depth);
  const problem = textProblem(line);
  if (problem !== undefined) reader.fail(problem);
  // A longer line is not parsed at all: its length bounds the work.
  if (line.length > longestLine) return;
  const script = parse(line);
  if (depth === 0) output.behindFirst = isBehindFirst(script);
  reader.readRegion(script, 0, line.length);
}

/** Walks the syntax tree of one script. What it does not know makes the line unreadable. */
export class LineReader implements LineContext {
  readonly line: string;
  readonly isBash: boolean;
  private readonly dialect: Dialect;
  readonly output: LineOutput;
  private depth: number;
  private spans: Span[] = [];
  private hasDocument = false;
  private readonly documentVariables: string[] = [];

  constructor(line: string, dialect: Dialect, output: LineOutput, depth: number) {
    this.line = line;
    this.dialect = dialect;
    this.isBash = dialect.isBash;
    this.output = output;
    this.depth = depth;
  }

  fail(reason: string): void {
    this.output.unreadable ??= reason;
  }

  /** Reads a script between two positions, and checks that nothing there was left out. */
  readRegion(script: ParsedScript, from: number, to: number): void {
    const outer = this.spans;
    this.spans = [];
    if (script.errors !== undefined && script.errors.length > 0) this.fail("It is not complete, or not shell syntax.");
    this.readStatements(script);
    if (!onlyGaps(this.line, from, to, this.spans)) this.fail("A part of it could not be read.");
    this.spans = outer;
  }

  readSubstitution(part: CommandExpansionPart): void {
    const text = this.line.slice(part.pos, part.end);
    const opening = text.startsWith("$(") ? 2 : 1;
    const plain = opening === 2 ? text.endsWith(")") && !text.startsWith("$((") : /^`[^`\\]*`$/.test(text);
    if (text !== part.text || !plain || part.script === undefined || part.script.source !== undefined) {
      this.readOther(part, "A command substitution in it could not be read.");
      return;
    }
    if (this.dialect.mayBeOld && /\n|\bcase\b/.test(text)) {
      this.fail("It has a substitution of several lines or with a case, which old versions of bash read differently.");
    }
    const { script } = part;
    const outside = this.hasDocument;
    this.hasDocument = false;
    this.nest(() => this.readRegion(script, part.pos + opening, part.end - 1));
    // If a here-document stands in a substitution, bash 5.2 loses separators of the commands around it.
    const [only, ...others] = script.commands;
    if (this.hasDocument && (only?.command.type !== "Command" || only.background || others.length > 0)) {
      this.fail("It has a here-document beside other commands in a substitution.");
    }
    this.hasDocument ||= outside;
  }

  noteDocument(variables: readonly string[]): void {
    this.hasDocument = true;
    this.documentVariables.push(...variables);
  }

  takeVariables(): string[] {
    return this.documentVariables.splice(0);
  }

  readOther(node: SyntaxNode, reason: string): void {
    this.fail(reason);
    // It may run more than once.
    this.output.repeats = true;
    this.collect(node);
  }

  /** Reads the script of a `sh -c` and its like. */
  readInner(text: string, isBash: boolean | undefined): void {
    const dialect = { ...this.dialect, isBash: isBash ?? this.isBash };
    this.nest(() => readScript(text, dialect, this.output, this.depth));
  }

  readWord(word: Word): ReadWord {
    this.cover(word);
    return readWord(word, this);
  }

  cover(span: Span): void {
    this.spans.push(span);
  }

  /** Commands anywhere below a node that is not understood, for rules that deny. */
  private collect(node: SyntaxNode): void {
    this.nest(() => {
      if (node.type === "Command") readSimpleCommand(node, this);
      else forEachChild(node, (child) => this.collect(child));
    });
  }

  nest(read: () => void): void {
    if (this.depth >= deepest) {
      this.fail("It is nested too deeply.");
      return;
    }
    this.depth += 1;
    read();
    this.depth -= 1;
  }

  private readStatements({ commands }: { readonly commands: readonly Statement[] }): void {
    for (const statement of commands) this.readStatement(statement);
  }

  /** Reads what may run more than once. */
  private readRepeated(statements: { readonly commands: readonly Statement[] }): void {
    const { repeats } = this.output;
    this.output.repeats = true;
    this.readStatements(statements);
    this.output.repeats = repeats;
  }

  private readStatement({ command }: Statement): void {
    if (command.type !== "AndOr") {
      this.nest(() => this.readNode(command));
      return;
    }
    for (const each of command.commands) this.nest(() => this.readNode(each));
  }

  private readNode(node: PipelineNode): void {
    switch (node.type) {
      case "Command":
        readSimpleCommand(node, this);
        return;
      case "Pipeline":
        this.readPipeline(node);
        return;
      case "Subshell":
      case "BraceGroup":
        this.coverBrackets(node, node.type === "Subshell" ? "()" : "{}");
        this.readStatements(node.body);
        return;
      case "Redirected":
        for (const each of node.redirects) readRedirection(each, this);
        this.nest(() => this.readNode(node.command));
        return;
      case "If":
        for (const { clause, then } of [node, ...node.elif])
          for (const list of [clause, then]) this.readStatements(list);
        if (node.else !== undefined) this.readStatements(node.else);
        return;
      case "While":
        this.readRepeated(node.clause);
        this.readRepeated(node.body);
        return;
      case "For":
        this.readFor(node);
        return;
      case "Case":
        this.readCase(node);
        return;
      case "Function":
        this.readOther(node, "It defines a function.");
        return;
      case "TestCommand":
        this.readOther(node, "It has [[, which sh and bash read differently and which can compute.");
        return;
      case "ArithmeticCommand":
      case "ArithmeticFor":
        this.readOther(node, "It has ((, which sh and bash read differently.");
        return;
      case "Select":
      case "Coproc":
        this.readOther(node, `It has ${node.type.toLowerCase()}, which sh and bash read differently.`);
        return;
      default:
        this.readOther(node, "A part of it could not be read.");
        return;
    }
  }

  private readPipeline(node: PipelineNode & { type: "Pipeline" }): void {
    if (node.operators.some((operator) => operator !== "|"))
      this.fail("It has |&, which sh and bash read differently.");
    for (const prefix of node.prefixes) {
      if (prefix.type === "Negation") {
        this.cover({ pos: prefix.pos, end: prefix.pos + 1 });
        if (this.line.charAt(prefix.pos) !== "!") this.fail("A part of it could not be read.");
        continue;
      }
      const first = node.commands[0];
      // For sh, `time` is a program that starts the words after it.
      const plain = first?.type === "Command" && first.name !== undefined && first.prefix.length === 0;
      if (prefix.endOfOptions !== undefined || node.prefixes.length > 1 || (!this.isBash && !plain)) {
        this.fail("It has a time that sh and bash read differently.");
      }
      if (prefix.posix !== undefined) this.cover(prefix.posix);
      this.output.commands.push(simpleCommand({ words: ["time"], assignments: [], text: "time" }, { opened: true }));
    }
    for (const command of node.commands) this.nest(() => this.readNode(command));
  }

  private readFor(node: PipelineNode & { type: "For" }): void {
    const name = this.readWord(node.name);
    if (name.kind !== "literal" || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name.value))
      this.fail("The name of a loop could not be read.");
    const words = (node.wordlist ?? []).map((word) => this.readWord(word));
    const patterns = words.flatMap(({ kind }, at) => (kind === "pattern" ? [at + 1] : []));
    // The result of an expansion is only used as data, or the line is unreadable. Patterns are expanded as those of any command.
    const values = words.map(({ value }) => value);
    const assignments = [{ name: name.value, value: values.join(" "), literal: false, exported: false }];
    const variables = words.flatMap((word) => word.variables);
    const found = { words: [":", ...values], assignments, text: `for ${name.value}`, patterns, variables };
    this.output.commands.push(simpleCommand(found));
    this.readRepeated(node.body);
  }

  private readCase(node: PipelineNode & { type: "Case" }): void {
    this.documentVariables.push(...this.readWord(node.word).variables);
    for (const item of node.items) {
      for (const pattern of item.pattern) this.readWord(pattern);
      this.coverPatternBrackets(item);
      if (item.terminator !== undefined && item.terminator !== ";;" && !this.isBash) {
        this.fail("It has ;& or ;;&, which sh and bash read differently.");
      }
      this.readStatements(item.body);
    }
  }

  private coverBrackets({ pos, end }: Span, brackets: string): void {
    this.cover({ pos, end: pos + 1 });
    this.cover({ pos: end - 1, end });
    if (this.line.charAt(pos) + this.line.charAt(end - 1) !== brackets) this.fail("A part of it could not be read.");
  }

  /** Covers the brackets of `(a|b)` or `a|b)`: the one before is optional. */
  private coverPatternBrackets({ pos, pattern }: CaseItem): void {
    if (this.line.charAt(pos) === "(") this.cover({ pos, end: pos + 1 });
    let close = pattern.at(-1)?.end ?? pos;
    while (" \t".includes(this.line.charAt(close) || "x")) close += 1;
    if (this.line.charAt(close) === ")") this.cover({ pos: close, end: close + 1 });
    else this.fail("A part of it could not be read.");
  }
}
