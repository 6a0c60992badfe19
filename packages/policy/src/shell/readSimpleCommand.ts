import { posix } from "node:path";
import type { Assignment as AssignmentNode, Command } from "unbash";
import { onceForWords, sameWords } from "../programs/invocation.ts";
import { isListed, parseWords } from "../programs/parseWords.ts";
import { readOnly } from "../programs/readOnly.ts";
import { type Started, startedBy, startsAnother } from "../programs/started.ts";
import { findProgram, plainName } from "../programs/table.ts";
import { type Uncovered, uncovered } from "../programs/uncovered.ts";
import { assignedNames, assigning, changeDirectory, dataIndexes, stateful, stateProblem } from "./builtins.ts";
import type { LineContext } from "./lineContext.ts";
import { readRedirection } from "./readRedirection.ts";
import { type ReadWord, readWord } from "./readWord.ts";
import type { Assignment, SimpleCommand } from "./shellLine.ts";

/** Reads one simple command with its assignments and redirections, and the commands that it starts. */
export function readSimpleCommand(node: Command, reader: LineContext): void {
  const words: ReadWord[] = [];
  const assignments: Assignment[] = [];
  const variables = reader.takeVariables();
  for (const each of node.prefix) {
    if (each.type !== "Assignment") readRedirection(each, reader);
    else {
      const { assignment, word } = readAssignment(each, node.name !== undefined, reader);
      assignments.push(assignment);
      variables.push(...word.variables);
    }
  }
  if (node.name !== undefined) words.push(reader.readWord(node.name));
  for (const each of node.suffix) {
    if (each.type === "Word") words.push(reader.readWord(each));
    else if (each.type === "Assignment") words.push(readAssignment(each, true, reader).word);
    else readRedirection(each, reader);
  }
  const text = reader.line.slice(node.pos, node.end);
  variables.push(...reader.takeVariables());
  if (words.length > 0 || assignments.length > 0) addCommand({ words, assignments, text, variables }, reader);
}

interface CommandParts {
  readonly words: readonly ReadWord[];
  readonly assignments: readonly Assignment[];
  readonly text: string;
  /** Variables that its assignments and here-documents expand. */
  readonly variables: readonly string[];
  /** Set if it gets further words that the line does not show; says whether these may be options. */
  readonly moreWords?: "paths" | "options" | undefined;
}

function readAssignment(node: AssignmentNode, exported: boolean, reader: LineContext) {
  reader.cover(node);
  const { name, value } = node;
  let read: ReadWord = { value: "", kind: "expanded", splits: false, variables: [] };
  const plain =
    value.type === "Word" && reader.line.slice(node.pos, value.pos) === `${name}=` && value.end === node.end;
  if (!plain || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    reader.readOther(node, "An assignment in it could not be read.");
  else read = readWord(value, reader);
  const literal = read.kind !== "expanded";
  return {
    assignment: { name, value: read.value, literal, exported },
    word: { ...read, value: `${name}=${read.value}`, assigns: true },
  };
}

function addCommand(command: CommandParts, reader: LineContext): void {
  const { text, moreWords } = command;
  const words = sameWords(command.words.map(({ value }) => value));
  const [program] = words;
  const variables = [...command.variables, ...command.words.flatMap((word) => word.variables)];
  if (program === undefined) {
    reader.output.commands.push(simpleCommand({ words, assignments: command.assignments, text, variables }));
    return;
  }
  if (command.words[0]?.kind !== "literal" && program !== "[")
    reader.fail("The name of a program in it is not written out.");
  const inner = startedBy(words);
  const opened = inner.length === 0 || canOpen(command, inner) ? inner : [];
  const isLiteral = command.words.every(({ kind }) => kind === "literal");
  if (!isLiteral) checkWords(command, words, opened, reader);
  if (/\||<</.test(reader.line) && takesScript(words))
    reader.fail(`${program} may take a script from its input, which is not read.`);
  const problem = stateful.has(program) ? stateProblem(words) : undefined;
  if (problem !== undefined) reader.fail(problem);
  if (changeDirectory.has(program)) reader.output.changesDirectory = true;
  const beyond = uncoveredIn(words, opened, moreWords);
  const patterns = isLiteral ? [] : command.words.flatMap(({ kind }, at) => (kind === "pattern" ? [at] : []));
  const assignments = assigning.has(program)
    ? [...command.assignments, ...assigned(words, command, reader)]
    : command.assignments;
  const found = {
    words,
    assignments,
    text,
    uncovered: beyond,
    patterns,
    variables,
    moreWords: moreWords !== undefined,
    repeats: reader.output.repeats,
  };
  reader.output.commands.push(simpleCommand(found, { opened: opened.length > 0 }));
  for (const each of opened) addOpened(each, command, reader);
}

/** Adds what the record of its program says of a command. */
export function simpleCommand(
  {
    words,
    uncovered,
    patterns = [],
    variables = [],
    moreWords,
    repeats,
    ...rest
  }: Omit<SimpleCommand, "reads" | "data" | "ofRepository">,
  { opened = false }: { opened?: boolean } = {},
): SimpleCommand {
  const isPlain = !opened && !moreWords && patterns.length === 0 && variables.length === 0;
  return {
    words,
    ...rest,
    reads: isPlain ? readsOfPlain(words) : readOnly({ words, patterns, variables, opened, moreWords }),
    // By its path it is the same program.
    ofRepository: findProgram(posix.basename(words[0] ?? ""))?.repository === true,
    data: dataIn(words),
    ...(uncovered !== undefined && { uncovered }),
    ...(patterns.length > 0 && { patterns }),
    ...(variables.length > 0 && { variables }),
    ...(moreWords && { moreWords }),
    ...(repeats && { repeats }),
  };
}

const readsOfPlain = onceForWords((words) => readOnly({ words }));

const dataIn = onceForWords((words): ReadonlySet<number> => {
  const isData = dataIndexes(words);
  return new Set(words.flatMap((_, at) => (isData(at) ? [at] : [])));
});

/** Returns whether the words before the inner commands are all literal, and further words cannot become part of a script. */
function canOpen({ words, moreWords }: CommandParts, inner: readonly Started[]): boolean {
  const starts = inner.map(({ start, script }) => start ?? script?.at ?? 0);
  return moreWords === undefined && words.slice(0, starts.at(-1)).every(({ kind }) => kind === "literal");
}

function addOpened(
  { start, end, script, assignments = [], moreWords }: Started,
  command: CommandParts,
  reader: LineContext,
): void {
  if (script !== undefined) {
    if (command.words[script.at]?.kind === "literal") reader.readInner(script.text, script.isBash);
    else reader.fail("A script in it is not written out.");
    return;
  }
  const words = command.words.slice(start, end);
  const text = words.map(({ value }) => value).join(" ");
  const exported = assignments.map((each) => ({ ...each, literal: true, exported: true }));
  reader.nest(() => addCommand({ words, assignments: exported, text, variables: [], moreWords }, reader));
}

/** Refuses an expansion that is not data where it stands, and a file pattern that may become an option. */
function checkWords(
  command: CommandParts,
  words: readonly string[],
  opened: readonly Started[],
  reader: LineContext,
): void {
  // Words of an inner command are judged with it.
  const inner = opened.find(({ start }) => start !== undefined);
  const stop = inner?.start ?? words.length;
  const resume = inner === undefined ? words.length : (inner.end ?? words.length);
  const data = dataIn(words);
  for (const [at, word] of command.words.entries()) {
    if (at === 0 || (at >= stop && at < resume)) continue;
    if (word.splits) reader.fail("An expansion in it is outside quotes, so it may become several words.");
    else if (word.kind === "expanded" && !word.assigns && !data.has(at)) {
      reader.fail(`A word of ${words[0]} is not written out, so it may be an option or any path.`);
    } else if (word.kind === "pattern" && mayBecomeOption(words, at, data.has(at))) {
      reader.fail(`A file pattern of ${words[0]} may become an option; it could not with ./ before it.`);
    }
  }
}

/** Returns whether a file may be named so that a program takes it for an option that matters: `-rf`, `--pre=x`. */
function mayBecomeOption(words: readonly string[], at: number, isData: boolean): boolean {
  const [program = ""] = words;
  const pattern = words[at] ?? "";
  // `--include=*.ts` stays that option, whatever the files are called.
  // A bracket of letters is no dash, however it is read.
  if (!/^(?:[-*?]|\[(?![A-Za-z0-9]+\]))/.test(pattern) || /^--[A-Za-z-]+=/.test(pattern) || takesAnyWords(program))
    return false;
  // To test, a word is an operator by its place, and a pattern may become several words.
  if (program !== "[" && program !== "test" && isData) return false;
  // Their options make other names at most, and the judge looks for such a name in the folder.
  if (/^(?:cp|ln|mv)$/.test(program)) return false;
  // No option of grep that matters ends in a dot and letters.
  return !(/^[ef]?grep$/.test(program) && /^\*\.[A-Za-z]+$/.test(pattern));
}

/** Lists the variables that `export`, `readonly`, `unset` and `read` assign. */
function assigned(words: readonly string[], command: CommandParts, reader: LineContext): Assignment[] {
  const names = assignedNames(words);
  if (names === undefined) reader.fail(`${words[0]} has a word that is not a name.`);
  const exported = words[0] === "export" || words[0] === "unset";
  // Names stand in the order of their words, after an option of `read`.
  const first = words.length - (names?.length ?? 0);
  return (names ?? []).map((name, index) => {
    const word = command.words[first + index];
    const assigns = word?.value.startsWith(`${name}=`) === true;
    const value = assigns ? word.value.slice(name.length + 1) : "";
    return { name, value, literal: assigns && word.kind !== "expanded", exported };
  });
}

function uncoveredIn(
  words: readonly string[],
  opened: readonly Started[],
  moreWords: CommandParts["moreWords"],
): Uncovered | undefined {
  if (moreWords === "options" && !takesAnyWords(words[0])) {
    return { why: "It gets further words from its input, which may be options that run a program.", at: words.length };
  }
  const last = words.length - 1;
  if (opened.length > 0) {
    // The actions of find besides the commands that it starts, whose action stands before each.
    const own: string[] = [];
    let from = 0;
    for (const { start = 0, end = 0 } of opened) {
      own.push(...words.slice(from, start - 1));
      from = end;
    }
    const beside = words[0] === "find" ? uncovered([...own, ...words.slice(from)]) : undefined;
    return beside && { why: beside.why, at: last };
  }
  const isUnread = words[0] === "find" && startsAnother(words);
  const found = isUnread ? { why: "find runs another program.", at: last } : uncovered(words);
  return found && { why: found.why, at: moreWords === undefined ? found.at : words.length };
}

/** Returns whether a shell or an interpreter may have no script in its words, so that it runs what its input holds. */
const takesScript = onceForWords((words): boolean => {
  const { fromInput, runs, versionOptions = "" } = findProgram(plainName(words[0] ?? "")) ?? {};
  if (fromInput === undefined) return false;
  const { options, always = "", never = "" } = fromInput;
  const others = `${runs?.code ?? "-c"} ${versionOptions} ${never} -h --help`;
  const { names, next, unknown } = parseWords(words, 1, `${options} ${always} ${others}`, { stop: true });
  if (isListed(names, others)) return false;
  // An option that is not known may take the next word, which is no script then.
  const taken = unknown.filter((at) => !words[at]?.includes("=")).length;
  return next + taken >= words.length || words[next] === "-" || isListed(names, always);
});

/** Returns whether no option of a program runs another one or names a file that it writes. */
function takesAnyWords(program = ""): boolean {
  return findProgram(program)?.covers === "anything";
}
