import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject } from "@toolcrib/core/text";
import { readManifest, type ToolManifest } from "./toolContract.ts";

/** One installed version of a package. */
export interface PackageVersion {
  readonly name: string;
  readonly version: string;
  /** Its tools; undefined for a package without any, and for a version that publishes no manifest of them. */
  readonly tools?: ToolManifest | undefined;
}

/** A project and the packages of toolcrib in it. */
export interface Project {
  /** The nearest one whose node_modules has packages of toolcrib. */
  readonly folder: string;
  /** By name: the range in the nearest package.json with dependencies, such as that of a workspace. Or why it cannot be read. */
  readonly ranges: ReadonlyMap<string, string> | Error;
  /** By name: what is installed, or why that cannot be told. */
  readonly packages: ReadonlyMap<string, PackageVersion | Error>;
}

const scope = "@toolcrib";
const dependencyFields = ["peerDependencies", "optionalDependencies", "devDependencies", "dependencies"];

/** Finds what Node.js would load from `start`: in each node_modules up to the root, the nearest first. */
export function findProject(start: string): Project | undefined {
  const packages = new Map<string, PackageVersion | Error>();
  let project: Pick<Project, "folder" | "ranges"> | undefined;
  let ranges: Project["ranges"] | undefined;
  for (let folder = start; ; folder = dirname(folder)) {
    if (!project) ranges ??= readRanges(folder);
    const found = packagesIn(folder);
    for (const [name, one] of found) if (!packages.has(name)) packages.set(name, one);
    if (found.size > 0) project ??= { folder, ranges: ranges ?? new Map() };
    if (dirname(folder) === folder) return project && { ...project, packages };
  }
}

/** Reads the packages of toolcrib in the node_modules of one folder, not of those above: by name, what is installed, or why that cannot be told. */
export function packagesIn(folder: string): Project["packages"] {
  const installed = join(folder, "node_modules", scope);
  const names = existsSync(installed)
    ? readdirSync(installed).filter((name) => /^[a-z0-9][a-z0-9._-]*$/.test(name))
    : [];
  return new Map(names.sort().map((name) => [`${scope}/${name}`, readInstalled(join(installed, name))]));
}

function readInstalled(folder: string): PackageVersion | Error {
  try {
    return readPackage(folder);
  } catch (error) {
    return error as Error;
  }
}

/** Reads a package. Throws an Error that says what is missing or wrong. */
function readPackage(folder: string): PackageVersion {
  const read = (file: string): unknown => parse(readText(join(folder, file), file), file);
  const manifest = read("package.json");
  const { name, version, exports } = isObject(manifest) ? manifest : {};
  if (typeof name !== "string" || typeof version !== "string")
    throw new Error("package.json names no package and version");
  // It is shown inside a command to copy.
  if (!/^\d+\.\d+\.\d+[\w.+-]*$/.test(version)) throw new Error("package.json has no version such as 0.1.0");
  const path = isObject(exports) ? exports["./manifest.json"] : undefined;
  if (typeof path !== "string") return { name, version };
  return { name, version, tools: readManifest(read(path.replace(/^\.\//, ""))) };
}

function readText(path: string, shown: string): string | undefined {
  if (!existsSync(path)) return undefined;
  if (!statSync(path).isFile()) throw new Error(`${shown} is not a file`);
  return readFileSync(path, "utf8");
}

function parse(text: string | undefined, file: string): unknown {
  if (text === undefined) throw new Error(`${file} is missing`);
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    throw new Error(`${file} is not valid JSON`);
  }
}

/** Reads the ranges; undefined for a package.json without dependencies, such as one that only says which modules a folder has. */
function readRanges(folder: string): Project["ranges"] | undefined {
  const path = join(folder, "package.json");
  try {
    const text = readText(path, path);
    const manifest = text === undefined ? undefined : parse(text, path);
    const fields = isObject(manifest) ? dependencyFields.map((field) => manifest[field]).filter(isObject) : [];
    if (fields.length === 0) return undefined;
    const ranges = fields.flatMap((field) => Object.entries(field));
    return new Map(ranges.flatMap(([name, range]) => (typeof range === "string" ? [[name, range]] : [])));
  } catch (error) {
    return error as Error;
  }
}

/** Returns whether a range takes a version, for the ranges that people write; undefined for any other. */
export function rangeTakes(range: string, version: string): boolean | undefined {
  if (/^(?:\*|x|latest|)$/.test(range.trim())) return !version.includes("-");
  const [, sign, ...parts] = /^([\^~]?)v?(\d+)\.(\d+)\.(\d+)$/.exec(range.trim()) ?? [];
  const [, ...others] = /^(\d+)\.(\d+)\.(\d+)$/.exec(version) ?? [];
  if (sign === undefined) return range.trim() === version ? true : undefined;
  if (others.length === 0) return false;
  const [wanted, given] = [parts.map(Number), others.map(Number)];
  // A caret holds the first number that is not zero, a tilde the first two, none all three.
  const firstNumber = wanted.findIndex((part) => part !== 0);
  const held = sign === "" ? 3 : sign === "~" ? 2 : firstNumber === -1 ? 3 : firstNumber + 1;
  const differing = given.findIndex((part, index) => part !== wanted[index]);
  return differing === -1 || (differing >= held && (given[differing] ?? 0) > (wanted[differing] ?? 0));
}
