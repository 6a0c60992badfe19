import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join, sep } from "node:path";
import { attempt } from "@toolcrib/core/internal";
import { isInside } from "@toolcrib/kit/files";

/** The variables that the process of a server inherits. None of them holds a key. */
const inherited = ["HOME", "LANG", "LOGNAME", "SHELL", "TERM", "TMPDIR", "USER"];

/** The command and environment of a server's process. */
interface ServerProgram {
  command: string;
  env: Record<string, string>;
}

/**
 * Finds the program of an entry and the environment to run it in. A bare name is looked up on PATH, but not in folders that the
 * tools of an agent may write to: relative ones, those below the working folder, `node_modules/.bin`. The process gets the same
 * PATH. The `env.PATH` of an entry is used as it is. Throws an Error that says what to do.
 */
export function findServerProgram(command: string, entryEnv: Readonly<Record<string, string>>): ServerProgram {
  const own = inherited.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const path = entryEnv.PATH ?? trustedPath(process.env.PATH ?? "", workingFolder());
  const env = { ...Object.fromEntries(own), PATH: path, ...entryEnv };
  if (command.includes("/") || command.includes(sep)) return { command, env };
  const names = programNames(
    command,
    process.platform === "win32" ? (process.env.PATHEXT ?? ".COM;.EXE;.BAT;.CMD") : "",
  );
  const found = path
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find(isProgram);
  if (found !== undefined) return { command: found, env };
  throw new Error(
    `the program ${command} is not on PATH; install it, or write its path. The working folder and node_modules/.bin ` +
      "are not searched",
  );
}

/** Returns the names under which a program may lie in a folder; `endings` are those of Windows, which has no right to execute, or none. */
export function programNames(command: string, endings: string): string[] {
  const all = endings
    .toLowerCase()
    .split(";")
    .filter((ending) => ending.startsWith("."));
  if (all.length === 0 || all.some((ending) => command.toLowerCase().endsWith(ending))) return [command];
  return all.map((ending) => command + ending);
}

/** Returns the folders of a PATH that the tools of an agent cannot write to. `working` is canonical. */
export function trustedPath(path: string, working: string | undefined): string {
  const isTrusted = (folder: string): boolean => {
    if (!isAbsolute(folder) || /[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder)) return false;
    return working === undefined || !isInside(working, canonical(folder));
  };
  // An empty PATH would mean the working folder.
  return path.split(delimiter).filter(isTrusted).join(delimiter) || "/usr/bin:/bin";
}

/** Returns the canonical working folder. Undefined when it holds the home directory, and so the programs and files of the user. */
export function workingFolder(): string | undefined {
  const working = canonical(process.cwd());
  return isInside(working, canonical(homedir())) ? undefined : working;
}

function canonical(path: string): string {
  return attempt(() => realpathSync(path)) ?? path;
}

function isProgram(path: string): boolean {
  const check = (): boolean => {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  };
  return attempt(check) ?? false;
}
