import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { clip, isObject, messageOf, printableName } from "@toolcrib/core/text";
import { findProgram, removeFlatFolder } from "@toolcrib/kit/files";
import { isSecret, redactUrls } from "@toolcrib/kit/text";
import { type PackageVersion, readPackage } from "./installed.ts";

/** Finds the versions of a package that could be installed. Rejects with an Error that says why that cannot be told. */
export type FindPackage = (name: string) => Promise<PackageVersion>;

/**
 * Fetches a package from the registry that npm uses in `folder`: the version, or what a tag stands for. Throws a RangeError for
 * what is neither. npm gets the environment without its secrets: a `.npmrc` of the folder could send them to a registry of its own.
 */
export function fromRegistry(
  folder: string,
  wanted: string,
  env: Readonly<Record<string, string | undefined>>,
  signal?: AbortSignal,
): FindPackage {
  // npm would pack what is here for a path and for what ends in one of these, as npm matches them.
  if (!/^\w[\w.+-]*$/.test(wanted) || /\.(?:tgz|tar|tar.gz)$/i.test(wanted))
    throw new RangeError("takes a version or a tag, such as 0.2.0 or latest");
  return async (name) => {
    const into = mkdtempSync(join(tmpdir(), "toolcrib-contracts-"));
    try {
      await npmPack(`${name}@${wanted}`, into, folder, withoutSecrets(env), signal);
      const [tarball] = readdirSync(into);
      if (tarball === undefined) throw new Error("npm pack wrote nothing");
      const found = readTarball(join(into, tarball));
      if (found.name !== name) throw new Error("npm packed another package for this name");
      return found;
    } finally {
      // No tree is removed: npm pack makes files alone.
      removeFlatFolder(into);
    }
  };
}

/** By these npm logs in and finds its way out; all else that looks like a secret is none of its business. */
const ofNpm = /^(?:NPM_TOKEN|NODE_AUTH_TOKEN|npm_config_.*|\w+_proxy)$/i;

function withoutSecrets(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  const kept = Object.entries(env).filter(([name, value]) => ofNpm.test(name) || !isSecret(name, value ?? ""));
  return Object.fromEntries(kept);
}

/** Reads a package from a `.tgz` or a folder of them; of several versions of a package, none is guessed. */
export function fromTarballs(path: string): { readonly find: FindPackage; readonly leftOut: readonly string[] } {
  const isFolder = statSync(path).isDirectory();
  const files = isFolder ? readdirSync(path).filter((name) => name.endsWith(".tgz")) : [resolve(path)];
  const packed: (PackageVersion & { readonly file: string })[] = [];
  const leftOut: string[] = [];
  for (const file of files) {
    try {
      packed.push({ file: printableName(basename(file)), ...readTarball(resolve(path, file)) });
    } catch (error) {
      // A folder may hold those of others too.
      if (!isFolder) throw error;
      leftOut.push(messageOf(error));
    }
  }
  const find: FindPackage = async (name) => {
    const found = packed.filter((one) => one.name === name);
    if (found.length > 1)
      throw new Error(`there are several: ${found.map(({ file }) => file).join(", ")}; name one of them`);
    if (!found[0])
      throw new Error(
        `none of the tarballs${leftOut.length > 0 ? " that can be read" : ""} contains it; create one with npm pack`,
      );
    return found[0];
  };
  return { find, leftOut };
}

function readTarball(path: string): PackageVersion {
  const name = printableName(basename(path));
  if (!statSync(path).isFile()) throw new Error(`${name} is not a file`);
  const files = unpack(readFileSync(path), name);
  try {
    return readPackage((file) => files(`package/${file}`));
  } catch (error) {
    throw new Error(`${name}: ${messageOf(error)}`);
  }
}

/** As npm words them: what kept it from the registry. */
const unreachable =
  /^(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENOTCACHED)$/;

async function npmPack(
  wanted: string,
  into: string,
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const flags = [
    "--json",
    "--ignore-scripts",
    "--no-update-notifier",
    "--loglevel=silent",
    "--fetch-retries=0",
    "--fetch-timeout=30000",
  ];
  const [program, ...words] = npmProgram();
  const child = spawn(program, [...words, "pack", wanted, "--pack-destination", into, ...flags], {
    cwd,
    signal,
    // Windows looks into the current folder first.
    env: { ...env, NoDefaultCurrentDirectoryInExePath: "1" },
    stdio: ["ignore", "pipe", "ignore"],
    windowsHide: true,
  });
  let answer = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    answer += text;
  });
  let failure: unknown;
  child.once("error", (error) => {
    failure = error;
  });
  // Also after an abort: npm still writes until it has ended.
  const code = await new Promise<number | null>((done) => child.once("close", done));
  if (failure !== undefined) {
    const isMissing = isObject(failure) && failure.code === "ENOENT";
    throw isMissing ? new Error("npm was not found on PATH; --tarballs PATH works without it") : failure;
  }
  if (code !== 0) throw new Error(describeFailure(answer));
}

function describeFailure(answer: string): string {
  const { code, summary } = npmError(answer);
  if (code === "E404" || code === "ETARGET")
    return "the registry has no such version; npm view NAME versions lists them";
  if (unreachable.test(code)) return `the registry cannot be reached (${code}); --tarballs PATH works without it`;
  if (code === "E401" || code === "E403") return `the registry refuses it (${code}): log in with npm login`;
  return `npm pack failed${code && ` (${code})`}: ${clip(redactUrls(summary), 200) || "it says no more"}`;
}

function npmError(answer: string): { code: string; summary: string } {
  try {
    const { error }: { error?: unknown } = Object(JSON.parse(answer));
    const { code, summary } = isObject(error) ? error : {};
    return { code: String(code ?? ""), summary: String(summary ?? "") };
  } catch {
    return { code: "", summary: answer };
  }
}

/** A program and the words before its own arguments. */
type Start = readonly [program: string, ...words: string[]];

/**
 * Returns the command that starts npm. On Windows npm is a script for `cmd.exe`, which would read what is in its arguments as
 * commands, so there Node runs npm's own file beside that script. `find` looks a name up on PATH.
 */
export function npmProgram(
  platform: NodeJS.Platform = process.platform,
  find: (name: string) => string | undefined = findProgram,
): Start {
  if (platform !== "win32") return ["npm"];
  const script = find("npm.cmd");
  const file = script && join(dirname(script), "node_modules", "npm", "bin", "npm-cli.js");
  return file && existsSync(file) ? [process.execPath, file] : [find("npm.exe") ?? "npm.exe"];
}

const block = 512;
/** A package of toolcrib has less than 3 MB. */
const mostBytes = 100 * 2 ** 20;

/** Reads files of a `.tgz` by their path in it, such as `package/package.json`. Throws an Error for what is none. */
function unpack(archive: Uint8Array, name: string): (path: string) => string | undefined {
  const files = new Map<string, Buffer>();
  let bytes: Buffer;
  try {
    bytes = gunzipSync(archive, { maxOutputLength: mostBytes });
  } catch {
    throw new Error(`${name} is not a tarball made by npm pack`);
  }
  for (let at = 0; at + block <= bytes.length; ) {
    const header = bytes.subarray(at, at + block);
    const path = text(header, 0, 100);
    if (path === "") break;
    const size = Number.parseInt(text(header, 124, 12), 8);
    if (!Number.isInteger(size) || size < 0) throw new Error(`${name} is not a tarball made by npm pack`);
    const start = at + block;
    // Of other kinds than plain files none is asked for.
    if (/^[0\0]?$/.test(String.fromCharCode(header[156] ?? 0))) files.set(path, bytes.subarray(start, start + size));
    at = start + Math.ceil(size / block) * block;
  }
  return (path) => files.get(path)?.toString("utf8");
}

/** Returns a field of a header: up to its first zero byte. */
function text(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end === -1 ? length : end).trim();
}
