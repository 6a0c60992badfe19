import { entryOf, readOptions } from "./options.ts";
import { type ReadOnlyGit, readOnlyGit } from "./readOnlyGit.ts";
import { type Judged, specialPrograms } from "./readOnlySpecial.ts";
import { type ReadOnlyProgram, readOnlyPrograms, versionOptions } from "./readOnlyTable.ts";
import type { SimpleCommand } from "./shellLine.ts";
import { isTransparent } from "./wrappers.ts";

/** What is known of a command. */
export interface ReadOnlyJudgement {
  /** Whether it only reads and prints. Its assignments are not judged here. */
  readonly readOnly: boolean;
  /** The paths that it reads, as its words have them: relative to where it runs, file patterns not replaced. */
  readonly paths: readonly string[];
  /** Why it is not read-only. One plain sentence. */
  readonly why?: string;
  /**
   * Whether it trusts the repository of the folder in which it runs: git runs what that one's configuration says. It then only counts
   * where the user chose that folder.
   */
  readonly trustsRepository?: boolean;
}

/** Variables that tell nothing secret. */
const plainVariables =
  /^(?:[a-z][a-z0-9_]*|HOME|PWD|OLDPWD|PATH|USER|LOGNAME|SHELL|LANG|TERM|TMPDIR|CI|[?#$!0-9@*_-])$/;

const no = (why: string): ReadOnlyJudgement => ({ readOnly: false, paths: [], why });

/** Whether a command is in the table of read-only commands, with options that keep it so, and which paths it reads. */
export function readOnlyCommand(command: SimpleCommand): ReadOnlyJudgement {
  const { words, opened, moreWords, variables = [] } = command;
  const [program] = words;
  const secret = variables.find((name) => !plainVariables.test(name));
  if (secret !== undefined) return no(`It reads the variable ${secret}.`);
  if (program === undefined) return { readOnly: true, paths: [] };
  if (opened === true && (isTransparent(program) || program === "eval" || program === "trap"))
    return { readOnly: true, paths: [] };
  if (moreWords === true && entryOf(readOnlyPrograms, program)?.operands !== "data")
    return no("It gets further words that the line does not show.");
  if (
    words.length === 2 &&
    entryOf(versionOptions, program)
      ?.split(" ")
      .includes(words[1] ?? "")
  )
    return { readOnly: true, paths: [] };
  return withPatterns(command, judgeWords(words, program));
}

function judgeWords(words: readonly string[], program: string): ReadOnlyJudgement {
  if (program === "git") return judgeGit(words);
  const judged = specialPrograms.get(program)?.(words) ?? judgeProgram(words, 1, entryOf(readOnlyPrograms, program));
  return "why" in judged ? no(judged.why) : { readOnly: true, paths: judged.paths };
}

/** A file pattern may become several words: it must be one of many paths, or data, whose folder is then read. */
function withPatterns({ words, patterns = [] }: SimpleCommand, judged: ReadOnlyJudgement): ReadOnlyJudgement {
  if (!judged.readOnly || patterns.length === 0) return judged;
  const [program = ""] = words;
  const table = entryOf(readOnlyPrograms, program);
  if (table?.most !== undefined) return no(`${program} takes so many words, and a file pattern may become more.`);
  const found = patterns.map((at) => words[at] ?? "");
  const known = new Set(judged.paths);
  const added = found.filter((word) => !known.has(word) && !/^--[A-Za-z-]+=/.test(word));
  const isData = table?.operands === "data" && table.options === undefined;
  const isOfGit =
    program === "git" && patterns.every((at) => !words[at - 1]?.startsWith("-") || words[at - 1] === "--");
  if (added.length > 0 && !isData && !isOfGit) return no(`A file pattern of ${program} stands where none is expected.`);
  return { ...judged, paths: [...judged.paths, ...added] };
}

function judgeProgram(words: readonly string[], start: number, program: ReadOnlyProgram | undefined): Judged {
  if (program === undefined) return { why: `${words[0]} is not in the table of read-only commands.` };
  const { operands: kind, options = "", most, data = 0, insteadOfData = [] } = program;
  // echo and its like print their options that they do not know.
  if (kind === "data" && program.options === undefined) return { paths: [] };
  const { unknown, operands, names, paths } = readOptions(words, start, options);
  if (unknown !== undefined) {
    return { why: `${words[unknown]} is not among the options of ${words[0]} that are known to only read.` };
  }
  if (kind === undefined && operands.length > 0) return { why: `${words[0]} is only read-only without further words.` };
  if (most !== undefined && operands.length > most) return { why: `${words[0]} may write to one of its words.` };
  if (kind !== "paths") return { paths };
  const skipped = insteadOfData.some((name) => names.includes(name)) ? 0 : data;
  const files = operands.slice(skipped).map((index) => words[index] ?? "");
  return { paths: [...paths, ...files].filter((path) => path !== "-") };
}

function judgeGit(words: readonly string[]): ReadOnlyJudgement {
  let at = 1;
  while (words[at] === "--no-pager" || words[at] === "--no-optional-locks" || words[at] === "-P") at += 1;
  const name = words[at] ?? "";
  const subcommand: ReadOnlyGit | undefined = entryOf(readOnlyGit, name);
  if (subcommand === undefined) return no(`git ${name} is not in the table of read-only commands.`);
  let start = at + 1;
  const { verbs } = subcommand;
  const verb = words[start] ?? "";
  const hasVerb = verb !== "" && verbs?.includes(verb) === true;
  if (hasVerb) start += 1;
  else if (verbs !== undefined && !(verbs.includes("") && (verb === "" || verb.startsWith("-"))))
    return no(`${`git ${name} ${verb}`.trim()} is not in the table of read-only commands.`);
  const judged = judgeProgram(words, start, { options: "", ...subcommand });
  if ("why" in judged) return no(judged.why);
  const { operands, names } = readOptions(words, start, subcommand.options ?? "");
  const { operandsNeed, operand } = subcommand;
  // After options, too, git takes a word for a verb.
  const [first] = operands;
  if (verbs !== undefined && !hasVerb && first !== undefined)
    return no(`git ${name} ${words[first]} is not in the table of read-only commands.`);
  if (operands.length > 0 && operandsNeed !== undefined && !operandsNeed.some((each) => names.includes(each))) {
    return no(`git ${name} would make or change what its words name.`);
  }
  // Outside the repository git compares any files. Which options take the next word depends on its version, so all words count.
  const outside = words.slice(start).find((word) => word.startsWith("/") || word.split("/").includes(".."));
  if (outside !== undefined) return no(`${outside} may lie outside the repository.`);
  const given = operands.map((index) => words[index] ?? "");
  if (operand !== undefined && !given.every((word) => operand.test(word)))
    return no(`git ${name} may print something secret.`);
  // Where there is no repository, diff compares two files.
  return { readOnly: true, paths: name === "diff" ? given : [], trustsRepository: true };
}
