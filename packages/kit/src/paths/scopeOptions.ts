import { resolve } from "node:path";
import { kindOf, quote } from "@toolcrib/core/internal";
import { canonical } from "./canonicalPath.ts";

export interface PathScopeOptions {
  /** What relative paths are relative to. Default: the process's, read at each call; the first root where that lies outside every root. */
  cwd?: string | undefined;
  /** One directory or several that no path may leave. Left out: no limit. `undefined` is refused, as is anything else that is not the path of a directory. */
  root?: string | readonly string[] | undefined;
  /** Patterns of paths that are neither read, listed, written nor entered; as in a .gitignore, without `!` (`compilePathPatterns`). `undefined` is refused. */
  deny?: readonly string[] | undefined;
  /** One directory or several for reading alone, inside the roots or beside them. `undefined` is refused. */
  readable?: string | readonly string[] | undefined;
}

/** The canonical directories that `root` or `readable` names. Throws a TypeError for anything else. */
export function canonicalDirectories(option: "root" | "readable", value: unknown): readonly string[] {
  const given: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (given.length === 0 || given.includes("")) {
    const without = option === "root" ? "no limit" : "none";
    throw new TypeError(`${option} must name at least one directory, none of them empty: leave it out for ${without}`);
  }
  const paths = given.filter(isDirectoryPath);
  if (paths.length < given.length) {
    const wrong = given.find((one) => !isDirectoryPath(one));
    throw new TypeError(
      `${option} must be the path of a directory, or an array of such, got ${shown(wrong)}: ${remedy(wrong)}`,
    );
  }
  return Object.freeze(paths.map((one) => canonical(resolve(one))));
}

/** Throws a TypeError unless `cwd` is left out or the path of a directory. */
export function checkCwd(cwd: unknown): void {
  if (cwd === "") throw new TypeError("cwd must not be empty: leave it out for the process's directory");
  if (cwd === undefined || isDirectoryPath(cwd)) return;
  throw new TypeError(`cwd must be the path of a directory, got ${shown(cwd)}: ${remedy(cwd)}`);
}

/** The patterns that `deny` names. Throws a TypeError unless it is an array of strings. */
export function checkDeny(deny: unknown): readonly string[] {
  if (Array.isArray(deny) && deny.every((one) => typeof one === "string")) return Object.freeze([...deny]);
  const got = Array.isArray(deny) ? "an array with other things" : kindOf(deny);
  throw new TypeError(`deny must be an array of path patterns, got ${got}: leave it out to deny nothing`);
}

const urlStart = /^[a-z][a-z0-9+.-]+:\/\//i;

function isDirectoryPath(value: unknown): value is string {
  return typeof value === "string" && value !== "" && !value.includes("\0") && !urlStart.test(value);
}

function shown(value: unknown): string {
  return typeof value === "string" ? quote(value) : kindOf(value);
}

function remedy(value: unknown): string {
  const isUrl = typeof value === "string" ? urlStart.test(value) : kindOf(value) === "an instance of URL";
  if (isUrl) return "fileURLToPath of node:url makes a path of a file URL";
  return value === undefined ? "leave the option out for the default" : "pass a string such as process.cwd()";
}
