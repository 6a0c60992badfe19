import { statSync } from "node:fs";
import { basename, delimiter, isAbsolute, join, resolve } from "node:path";
import { canonicalOrUndefined, isInside } from "@toolcrib/kit/files";
import type { Settings } from "../settings.ts";
import { type CommandLine, isChanging, type LineCommand } from "./commandLine.ts";
import { unsafeRepositories } from "./unsafeRepository.ts";

/*
 * A record of a program says what it reads if it is that program, runs on this machine, and finds no other configuration or variable than
 * the user's own.
 */

/** The commands of a line, of which those that may run something else no longer count as ones that only read. */
export function inEnvironment(line: CommandLine, settings: Settings): CommandLine {
  if (line.effect.remote !== undefined) return { ...line, commands: line.commands.map(onRemote) };
  if (line.allowsAll) return line;
  const unsafeRepository = unsafeRepositories(line, settings);
  const directories = line.directories ?? [line.effect.cwd ?? settings.scope.cwd];
  const changed = [
    ...line.commands.filter(isChanging).flatMap(({ words }) => words),
    ...line.redirections.map(({ path }) => path),
  ];
  const mayPut = (folder: string): boolean => changed.some((word) => word.includes(basename(folder)));
  const commands = line.commands.map((command): LineCommand => {
    const unsafe = unsafeRepository(command);
    if (unsafe !== undefined) {
      const reads = `${unsafe} is, or may become, a repository of its own, whose configuration git would run.`;
      return { ...command, reads, unsafeRepository: unsafe };
    }
    if (isChanging(command)) return command;
    return { ...command, reads: mayBePlanted(command, directories, mayPut, settings) ?? command.reads };
  });
  return { ...line, commands };
}

/** What a program reads on a remote, and what its configuration there has it do, cannot be looked at. */
function onRemote(command: LineCommand): LineCommand {
  const reads =
    typeof command.reads === "string" ? command.reads : "It runs on a remote, whose files cannot be looked at.";
  return { ...command, reads };
}

interface Folder {
  readonly path: string;
  /** Whether it is relative, or inside a root. */
  readonly unsafe: boolean;
}

/** The folders of PATH up to the last unsafe one. Links in them are resolved once, as that takes longer than a decision. */
const known = new WeakMap<Settings, { readonly path: string; readonly folders: readonly Folder[] }>();

function foldersOf(path: string, settings: Settings): readonly Folder[] {
  const found = known.get(settings);
  if (found?.path === path) return found.folders;
  const { roots } = settings;
  const isInRoot = (folder: string): boolean => roots.some((root) => isInside(root, folder));
  const all = path.split(delimiter).map((folder): Folder => {
    const unsafe = !isAbsolute(folder) || isInRoot(folder) || isInRoot(canonicalOrUndefined(folder) ?? folder);
    return { path: folder, unsafe };
  });
  const folders = all.slice(0, all.findLastIndex(({ unsafe }) => unsafe) + 1);
  known.set(settings, { path, folders });
  return folders;
}

/**
 * Returns why the program of a command may be another than the one its record is about: PATH finds it in a relative folder or inside a root,
 * where it may have come with the files (`npx` puts `node_modules/.bin` first). `mayPut` tells whether the line itself may put it there.
 */
function mayBePlanted(
  { words: [program = ""] }: LineCommand,
  directories: readonly string[],
  mayPut: (folder: string) => boolean,
  settings: Settings,
): string | undefined {
  for (const { path, unsafe } of foldersOf(process.env.PATH ?? "", settings)) {
    const folders = isAbsolute(path) ? [path] : directories.map((directory) => resolve(directory, path));
    if (folders.some((folder) => isFile(join(folder, program))) || (unsafe && program !== "" && mayPut(path)))
      return unsafe
        ? `PATH finds ${program} in ${path || "the folder it runs in"}, where it may have come with the files.`
        : undefined;
  }
  return undefined;
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}
