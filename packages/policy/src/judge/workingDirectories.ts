import { resolve } from "node:path";
import { changeDirectory } from "../shell/builtins.ts";
import type { ShellLine } from "../shell/shellLine.ts";
import { pathFrom } from "./commandFiles.ts";

const most = 16;

/**
 * The directories in which commands of a line may run: where it starts, and where each `cd` of it may lead, whether those before it
 * succeeded or not. Undefined where that cannot be told.
 */
export function workingDirectories(line: ShellLine, command: string, cwd: string): readonly string[] | undefined {
  if (!line.changesDirectory) return [cwd];
  // In a loop the same `cd` may be taken again and again.
  if (/\b(?:for|while|until|select)\b/.test(command)) return undefined;
  const found = new Set([cwd]);
  let changes = 0;
  // Nothing comes after the last command, but for what a trap says, and redirections that stand alone.
  const goesOn = line.redirections.length > 0 || line.commands.some(({ words }) => words[0] === "trap");
  const last = goesOn ? undefined : line.commands.at(-1);
  for (const command of line.commands) {
    const { words } = command;
    const [program = "", target] = words;
    if (!changeDirectory.has(program)) continue;
    if (!isPlainChange(words) || target === undefined) return undefined;
    changes += 1;
    if (command === last) break;
    // A shell goes on from the path as written, a program from where it leads.
    for (const from of [...found]) found.add(resolve(from, target)).add(pathFrom(from, target));
    if (found.size > most) return undefined;
  }
  // Something else changes it.
  return changes === 0 ? undefined : [...found];
}

/** `cd DIRECTORY`, which `CDPATH` cannot lead elsewhere. */
export function isPlainChange(words: readonly string[]): boolean {
  const [program, target = "", ...more] = words;
  if (program !== "cd" || target === "" || more.length > 0 || /^[-~]|[*?[]/.test(target)) return false;
  return /^\.{0,2}\//.test(target) || target === "." || target === ".." || !process.env.CDPATH;
}
