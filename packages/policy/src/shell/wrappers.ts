import { type OptionList, readOptions } from "./options.ts";

/** How a command starts another one that stands in its own words. */
export interface Opened {
  /** The index of the first word of the inner command; undefined when the inner command is a script. */
  readonly start?: number | undefined;
  /** The index after its last word; the end of the words when undefined. */
  readonly end?: number | undefined;
  /** A script that a shell runs, and whether that shell is bash; undefined when it is the shell that reads the line. */
  readonly script?: { readonly text: string; readonly isBash: boolean | undefined; readonly at: number };
  /** Variables that it sets for the inner command. */
  readonly assignments?: readonly { readonly name: string; readonly value: string }[];
  /** Whether the inner command gets further words that the line does not show; `options` when these may be options. */
  readonly moreWords?: "paths" | "options" | undefined;
}

interface Wrapper {
  readonly options: OptionList;
  /** Words of its own between its options and the inner command. */
  readonly operands?: number;
  /** Whether it does nothing itself, so that only the inner command matters. */
  readonly transparent?: boolean;
}

/** Programs that start the command in their words, with the options that leave it clear what that command is. */
const wrappers = new Map<string, Wrapper>(
  Object.entries({
    busybox: { options: "" },
    builtin: { options: "" },
    chronic: { options: "", transparent: true },
    command: { options: "", transparent: true },
    doas: { options: "-n" },
    exec: { options: "", transparent: true },
    ionice: { options: "-c= --class= -n= --classdata= -t --ignore", transparent: true },
    nice: { options: "-n= --adjustment= -#", transparent: true },
    nohup: { options: "", transparent: true },
    setsid: { options: "-w --wait -f --fork" },
    stdbuf: { options: "-i= -o= -e= --input= --output= --error=", transparent: true },
    sudo: { options: "-n --non-interactive -E --preserve-env" },
    time: { options: "-p", transparent: true },
    timeout: {
      options: "-s= --signal= -k= --kill-after= --foreground --preserve-status -v --verbose",
      operands: 1,
      transparent: true,
    },
  } satisfies Record<string, Wrapper>),
);

const shells = new Map([
  ["sh", false],
  ["dash", false],
  ["bash", true],
]);

const assignment = /^[A-Za-z_][A-Za-z0-9_]*=/;

/** Whether a command that starts another one does nothing by itself. */
export function isTransparent(program: string): boolean {
  return program === "env" || program === "xargs" || shells.has(program) || wrappers.get(program)?.transparent === true;
}

const anyWords = new Set(
  "echo cat ls wc head tail stat basename dirname realpath readlink rm rmdir mkdir touch chmod chown cp mv ln du cut nl".split(
    " ",
  ),
);

/** Whether no option of a program runs another one or names a file that it writes beside its operands. */
export function takesAnyWords(program: string): boolean {
  return anyWords.has(program);
}

/** Whether a command starts another one, understood or not. */
export function startsAnother(words: readonly string[]): boolean {
  const [program = "", first] = words;
  if (program === "find") return words.some((word) => actions.has(word));
  if (first === undefined || (program === "command" && /^-[vV]$/.test(first))) return false;
  return wrappers.has(program) || shells.has(program) || ["env", "eval", "trap", "xargs"].includes(program);
}

/** The commands that the words start; empty when they start none, or none that is exactly understood. */
export function openWrapper(words: readonly string[]): readonly Opened[] {
  const program = words[0] ?? "";
  if (program === "env") return openEnv(words);
  if (program === "xargs") return openXargs(words);
  if (program === "find") return openFind(words);
  if (program === "eval") return openEval(words);
  if (program === "trap") return openTrap(words);
  const shell = shells.get(program);
  if (shell !== undefined) return openShell(words, shell);
  const wrapper = wrappers.get(program);
  if (wrapper === undefined) return [];
  const { unknown, next } = readOptions(words, 1, wrapper.options, { stopAtOperand: true });
  const start = next + (wrapper.operands ?? 0);
  return unknown === undefined && start < words.length ? [{ start }] : [];
}

function openEnv(words: readonly string[]): readonly Opened[] {
  const list = "-i --ignore-environment -u= --unset=";
  const { unknown, next } = readOptions(words, 1, list, { stopAtOperand: true });
  if (unknown !== undefined) return [];
  const assignments = [];
  let start = next;
  for (; start < words.length; start += 1) {
    const word = words[start] ?? "";
    if (!assignment.test(word)) break;
    const equals = word.indexOf("=");
    assignments.push({ name: word.slice(0, equals), value: word.slice(equals + 1) });
  }
  // A name that no shell accepts is still an assignment to env.
  if (words[start]?.includes("=")) return [];
  return start < words.length ? [{ start, assignments }] : [];
}

function openXargs(words: readonly string[]): readonly Opened[] {
  const list =
    "-0 --null -r --no-run-if-empty -t --verbose -x -n= --max-args= -P= --max-procs= -L= -d= --delimiter= -I=";
  const { unknown, names, next } = readOptions(words, 1, list, { stopAtOperand: true });
  const program = words[next];
  if (unknown !== undefined || program === undefined || (names.includes("-I") && replaces(words, program))) return [];
  return [{ start: next, moreWords: "options" }];
}

/** Whether `xargs -I WORD` may replace the program itself. */
function replaces(words: readonly string[], program: string): boolean {
  const at = words.findIndex((word) => word.startsWith("-I"));
  const replaced = words[at] === "-I" ? words[at + 1] : words[at]?.slice(2);
  return replaced === undefined || replaced === "" || program.includes(replaced);
}

const actions = new Set(["-exec", "-execdir", "-ok", "-okdir"]);

function openFind(words: readonly string[]): readonly Opened[] {
  const opened: Opened[] = [];
  // Paths that find hands on start with a start folder, so they are no options unless that is one.
  const first = words.slice(1).find((word) => !/^-[HLP]$/.test(word)) ?? "";
  const plainPaths = !first.startsWith("-") || actions.has(first) || /^-[a-z]+$/.test(first);
  for (let at = 1; at < words.length; at += 1) {
    if (!actions.has(words[at] ?? "")) continue;
    const start = at + 1;
    let end = start;
    while (end < words.length && words[end] !== ";" && !(words[end] === "+" && words[end - 1] === "{}")) end += 1;
    if (end === start || end === words.length) return [];
    opened.push({ start, end, moreWords: plainPaths ? "paths" : "options" });
    at = end;
  }
  return opened;
}

function openShell(words: readonly string[], isBash: boolean): readonly Opened[] {
  const at = words.findIndex((word, index) => index > 0 && !/^-[eux]+$/.test(word));
  const text = words[at + 1];
  return at > 0 && /^-[eux]*c$/.test(words[at] ?? "") && text !== undefined && !text.startsWith("-")
    ? [{ script: { text, isBash, at: at + 1 } }]
    : [];
}

function openEval(words: readonly string[]): readonly Opened[] {
  if (words[1] === undefined || words[1].startsWith("-")) return [];
  return [{ script: { text: words.slice(1).join(" "), isBash: undefined, at: words.length - 1 } }];
}

function openTrap(words: readonly string[]): readonly Opened[] {
  const [, text] = words;
  if (text === undefined || words.length < 3 || text.startsWith("-")) return [];
  return [{ script: { text, isBash: undefined, at: 1 } }];
}
