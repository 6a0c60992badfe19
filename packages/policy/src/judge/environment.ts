import { basename, delimiter, isAbsolute, join, resolve } from "node:path";
import { canonicalOrUndefined, isInside } from "@toolcrib/kit/files";
import type { Settings } from "../settings.ts";
import type { SimpleCommand } from "../shell/shellLine.ts";
import type { CommandLine, LineCommand } from "./commandLine.ts";
import { Repositories } from "./unsafeRepository.ts";

/*
 * A record of a program says what it reads if it is that program, runs on this machine, and finds no other configuration or variable than
 * the user's own.
 */

/** Notes which commands of a line no longer count as ones that only read, as they may run something else here. */
export function noteEnvironment(line: CommandLine, settings: Settings): void {
  const isRemote = line.effect.remote !== undefined;
  if (!isRemote && line.allowsAll) return;
  let repositories: Repositories | undefined;
  const folders = isRemote ? [] : foldersOf(process.env.PATH ?? "", settings);
  const why = line.commands.map((command) => {
    if (!isRemote && command.ofRepository) {
      repositories ??= new Repositories(line, settings);
      command.unsafeRepository = repositories.unsafe(command);
    }
    if (command.unsafeRepository !== undefined)
      return `${command.unsafeRepository} is, or may become, a separate repository, and git would run what its configuration names.`;
    if (command.changes) return undefined;
    if (isRemote) return "It runs on a remote, whose files cannot be looked at.";
    return folders.length === 0 ? undefined : mayBePlanted(command, folders, line);
  });
  // Each was judged by what the others do by their words alone.
  for (const [at, command] of line.commands.entries()) {
    command.reads = why[at] ?? command.reads;
    command.changes = typeof command.reads === "string" && !command.moves;
  }
}

interface Folder {
  readonly path: string;
  /** True if it is relative, or inside a root. */
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
 * where it may have come with the files (`npx` puts `node_modules/.bin` first), or where the line itself may put it.
 */
function mayBePlanted(
  { words: [program = ""] }: LineCommand,
  all: readonly Folder[],
  { commands, redirections, directories, looks }: CommandLine,
): string | undefined {
  const mayPut = (folder: string): boolean => {
    const isMeant = (word: string): boolean => word.includes(basename(folder));
    return (
      commands.some(({ changes, words }) => changes && words.some(isMeant)) ||
      redirections.some(({ path }) => isMeant(path))
    );
  };
  for (const { path, unsafe } of all) {
    const folders = isAbsolute(path) ? [path] : directories.map((directory) => resolve(directory, path));
    if (
      folders.some((folder) => looks.stats(join(folder, program))?.isFile()) ||
      (unsafe && program !== "" && mayPut(path))
    )
      return unsafe
        ? `PATH finds ${program} in ${path || "the folder it runs in"}, where somebody may have put it among the files.`
        : undefined;
  }
  return undefined;
}

/**
 * Variables that a call may set for a command that is allowed: they change how much is printed, in which language or colours, or whether
 * a person is asked. Any other could choose what runs (`PATH`, `LD_PRELOAD`, `NODE_OPTIONS`, `BASH_ENV`, `EDITOR` and many more), so it is
 * asked about. So is a terminal or a time zone that is a path, a locale of another encoding than UTF-8, and a pager other than `cat`.
 */
export const harmlessVariables: readonly string[] = Object.freeze([
  ...["CI", "NODE_ENV", "DEBUG", "VERBOSE", "LOG_LEVEL", "RUST_BACKTRACE", "RUST_LOG"],
  ...["NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM", "COLORTERM", "COLUMNS", "LINES"],
  ...[
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "TZ",
  ],
  ...["PAGER", "GIT_PAGER", "MANPAGER", "GH_PAGER", "SYSTEMD_PAGER", "AWS_PAGER"],
  ...["GIT_TERMINAL_PROMPT", "PIP_NO_INPUT", "DEBIAN_FRONTEND", "GH_PROMPT_DISABLED"],
]);

const harmless = new Set(harmlessVariables);
/** Names that no program reads: those of programs are in capitals, or have an underscore (`http_proxy`, `npm_config_x`). */
const ofTheLine = /^[a-z][a-z0-9]*$/;

/** In another encoding a shell reads a backslash as half of a letter. */
const isPlainLocale = /^(?:C|POSIX|[A-Za-z]+(?:_[A-Za-z]+)?\.utf-?8)?$/i;

/** Matches the harmless values of variables of which not every value is. */
const values: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:LANG|LC_[A-Z]+)$/, isPlainLocale],
  // Programs look for a file of this name below a folder of the system, which a path leaves.
  [/^(?:LANGUAGE|TERM)$/, /^[^/]*$/],
  [/PAGER$/, /^cat$/],
  // It names a module of Perl.
  [/^DEBIAN_FRONTEND$/, /^noninteractive$/],
  [/^TZ$/, /^(?![:/])(?!(?:.*\/)?\.\.(?:\/|$))/s],
];

function isHarmless(name: string, value: string, literal = true): boolean {
  if (!harmless.has(name)) return false;
  const allowed = values.find(([names]) => names.test(name))?.[1];
  return allowed === undefined || (literal && allowed.test(value));
}

/** Finds the first variable that could change what runs, of those that the call or its commands set. */
export function riskyVariable(
  env: Readonly<Record<string, string>>,
  commands: readonly SimpleCommand[],
): string | undefined {
  const found = Object.entries(env).find(([name, value]) => !isHarmless(name, value));
  if (found !== undefined) return found[0];
  for (const { assignments } of commands) {
    for (const { name, value, literal, exported } of assignments) {
      if (!isHarmless(name, value, literal) && (exported || !ofTheLine.test(name))) return name;
    }
  }
  return undefined;
}
