import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { sharedFolder } from "../src/temporaryFolder.ts";
import {
  type Folders,
  projectFiles,
  type Recording,
  type Run,
  recordLines,
  type Shell,
  type Started,
} from "./recordShell.ts";

/** The rules under which generated lines are judged, in the mode `ask`. `mayRun` says the same without the policy. */
export const generatedRules: readonly string[] = [
  "run_bash(git status)",
  "run_bash(npm test *)",
  "run_bash(npm run build)",
  "run_bash(tsc *)",
];

const exact = ["git status", "npm run build"];
const prefixes = ["npm test", "tsc"];

/** Programs that only read, with the options that make them do more; their other words are files of the project. */
const readers: Readonly<Record<string, RegExp>> = {
  ls: /^$/,
  cat: /^$/,
  head: /^$/,
  tail: /^$/,
  wc: /^--files0-from/,
  grep: /^(?:-\w*f|--f)/,
  sort: /^(?:-[^-]*[oTS]|--(?:o|c|t|f|r))/,
  uniq: /^$/,
  tr: /^$/,
  cut: /^$/,
  id: /^$/,
  du: /^--files0-from/,
  stat: /^$/,
  "git status": /^$/,
  // What -exec runs is recorded by itself.
  find: /^-(?:ok(?:dir)?|delete|fprint[0f]?|fls|files0-from)$/,
};
/** Programs that only print or answer. */
const printers = new Set(["echo", "printf", "true", "false", "test", "[", "pwd"]);
/** In dash `time shift` looks for a program of that name. There is none, and the path is not the line's to choose. */
const builtins = new Set(
  (
    ". : alias bg break builtin cd command continue declare eval exec exit export fg getopts hash jobs let local read " +
    "readonly return set shift source times trap type typeset ulimit umask unalias unset wait"
  ).split(" "),
);
/** Programs that run another, which is recorded by itself. */
const starters: Readonly<Record<string, RegExp>> = {
  env: /^/,
  xargs: /^/,
  nohup: /^/,
  nice: /^/,
  time: /^/,
  timeout: /^/,
  stdbuf: /^/,
  sh: /^-[a-z]*c$/,
  ash: /^-[a-z]*c$/,
  dash: /^-[a-z]*c$/,
  bash: /^-[a-z]*c$/,
};
/** Variables that a line may set for a command: they cannot change what it does. */
const harmlessVariable = /^(?:CI|NODE_ENV|NO_COLOR|FORCE_COLOR)=/;

/** Returns why neither a rule nor the mode `ask` allows the started program; undefined if one does. */
function problemOf({ argv, cwd, environment }: Started, { project }: Folders): string | undefined {
  const [first = "", second = ""] = argv;
  const program = first === "git" ? `${first} ${second}` : first;
  const words = argv.slice(first === "git" ? 2 : 1);
  const isOutside = (path: string): boolean => {
    const way = relative(project, resolve(cwd, path));
    return way === ".." || way.startsWith("../") || isAbsolute(way);
  };
  if (isOutside(cwd)) return `it ran in ${cwd}`;
  const set = environment.find((variable) => !harmlessVariable.test(variable));
  if (set !== undefined) return `the variable ${set} was set`;
  if (exact.includes(argv.join(" "))) return undefined;
  if (prefixes.some((prefix) => argv.join(" ") === prefix || argv.join(" ").startsWith(`${prefix} `))) return undefined;
  if (printers.has(program) || builtins.has(program) || starters[program]?.test(words[0] ?? "")) return undefined;
  const runs = readers[program];
  if (runs === undefined) return "no rule allows the program";
  const option = words.find((word) => runs.test(word));
  if (option !== undefined) return `the option ${option} does more than read`;
  const operands = words.filter((word) => !word.startsWith("-"));
  if (program === "uniq" && operands.length > 1) return "uniq writes to its second operand";
  // The first operand of grep is a pattern, and find's words after its start are tests.
  const files = program === "grep" ? operands.slice(1) : program === "find" ? operands.slice(0, 1) : operands;
  const outside = files.find(isOutside);
  return outside === undefined ? undefined : `${outside} lies outside of the project`;
}

export interface Violation {
  readonly line: string;
  readonly shell: Shell;
  readonly problem: string;
}

/** Returns what happened in a run although it must not. */
export type Oracle = (recording: Recording, folders: Folders) => string | undefined;

/** The mode `ask` with `generatedRules`. */
export const asks: Oracle = (recording, folders) =>
  problemOfStarted(recording, folders) ??
  (recording.changed.length === 0 ? undefined : `files were changed: ${recording.changed.join(", ")}`);

/** The mode `accept-edits` with `generatedRules`. */
export const acceptsEdits: Oracle = (recording, folders) => {
  const inside = `${folders.project}/`;
  const changed = recording.changed.find((path) => !path.startsWith(inside) || path.startsWith(`${inside}.git`));
  return (
    problemOfStarted(recording, folders) ??
    (changed === undefined ? undefined : `files outside were changed: ${changed}`)
  );
};

/** The mode `full` with `forbiddenRules`. */
export const forbids: Oracle = ({ started }) => {
  const forbidden = started.find(
    ({ argv: [program, first] }) => program === "touch" || (program === "git" && first === "push"),
  );
  return forbidden === undefined ? undefined : `${JSON.stringify(forbidden.argv)}: a rule denies the program`;
};

export const forbiddenRules: readonly string[] = ["run_bash(touch *)", "run_bash(git push *)"];

/** Runs lines that were allowed, and reports each that did what it must not. */
export async function checkLines(runs: readonly Run[], folders: Folders, oracle: Oracle): Promise<Violation[]> {
  return (await recordLines(runs, folders)).flatMap((recording, index) => {
    const run = runs[index];
    const problem = oracle(recording, folders);
    return run === undefined || problem === undefined ? [] : [{ ...run, problem }];
  });
}

function problemOfStarted({ started }: Recording, folders: Folders): string | undefined {
  for (const one of started) {
    const problem = problemOf(one, folders);
    if (problem !== undefined) return `${JSON.stringify(one.argv)}: ${problem}`;
  }
  return undefined;
}

/**
 * Judges lines with both settings of the tool's shell, and runs those that are allowed. `everywhere`: in each shell that could be
 * meant; else in dash and one bash, in turn.
 */
export async function judgeAndCheck(
  lines: readonly string[],
  judge: (line: string, shell: "sh" | "bash") => Promise<boolean>,
  folders: Folders,
  { oracle = asks, everywhere = false }: { readonly oracle?: Oracle; readonly everywhere?: boolean } = {},
): Promise<{ allowed: number; runs: number; violations: Violation[] }> {
  const runs: Run[] = [];
  let allowed = 0;
  for (const [index, line] of lines.entries()) {
    const ofSh = await judge(line, "sh");
    if (!ofSh && !(await judge(line, "bash"))) continue;
    allowed += 1;
    const bashes: readonly Shell[] = everywhere
      ? ["bash", "bash --posix"]
      : [index % 2 === 0 ? "bash" : "bash --posix"];
    const shells: readonly Shell[] = ofSh ? ["dash", ...bashes] : ["bash"];
    runs.push(...shells.map((shell) => ({ line, shell })));
  }
  return { allowed, runs: runs.length, violations: await checkLines(runs, folders, oracle) };
}

/** Makes the project and the home folder for the tests of a file, so that the policy sees what the sandbox shows. */
export function sharedFolders(name: string): Folders {
  const base = sharedFolder(name);
  const folders = { project: join(base, "project"), home: join(base, "home") };
  mkdirSync(folders.home);
  for (const file of projectFiles) {
    mkdirSync(dirname(join(folders.project, file)), { recursive: true });
    writeFileSync(join(folders.project, file), "1");
  }
  return folders;
}
