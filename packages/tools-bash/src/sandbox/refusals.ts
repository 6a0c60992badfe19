import { isInside } from "@toolcrib/kit/files";
import type { Refusal, Sandbox } from "./sandbox.ts";

/** Messages that programs print on such a refusal. A guess: they may print them for other reasons, too. */
const signs: Readonly<Record<Exclude<Refusal, "protect">, RegExp>> = {
  write: /Read-only file ?system|EROFS/i,
  deny: /: Permission denied|EACCES/,
  network:
    /Network is unreachable|ENETUNREACH|name resolution|Name or service not known|resolv(?:e|ing) (?:host|proxy|'[\w-]+(?:\.[\w-]+)+')|EAI_AGAIN|ENOTFOUND|Connection refused|ECONNREFUSED|Failed to connect/i,
  sockets: /Address family not supported|EAFNOSUPPORT/i,
  limits:
    /Cannot allocate memory|ENOMEM|bad_alloc|MemoryError|Cannot fork|fork: .*Resource temporarily unavailable|can't start new thread|No space left on device/i,
};

/** Returns a line for each suggested refusal: what the sandbox does, and what the user can do about it. */
export function describeRefusals(printed: string, { writable, limits, options, denies }: Sandbox): string[] {
  const { network = false, unixSockets = false, remedies = {} } = options;
  const memory = `${limits.memoryBytes} bytes of memory for each and ${limits.temporaryBytes} bytes in /tmp at most`;
  const facts: readonly (readonly [refusal: keyof typeof signs, applies: boolean, fact: string])[] = [
    ["write", true, `commands can write only in ${writable.join(", ")} and /tmp`],
    ["deny", denies, "commands cannot open denied paths"],
    ["network", !network, "commands have no network and reach no service of this machine"],
    ["sockets", !unixSockets, "commands cannot open Unix sockets"],
    ["limits", true, `a command has ${limits.processes} processes, ${memory}`],
  ];
  return facts
    .filter(([refusal, applies]) => applies && signs[refusal].test(printed))
    .map(([refusal, , fact]) => {
      const remedy = remedies[refusal];
      return `[sandbox: ${fact}, which may be why this failed${remedy ? `; ${remedy}` : ""}]`;
    });
}

/** Printed when a protected path was to be changed, replaced or removed. */
const protectSign = /Read-only file ?system|EROFS|resource busy|EBUSY|cross-device|EXDEV/i;
/** The program that prints a line, and its line of the script. */
const program = /^\S+: (?:(?:line )?\d+: )?/;
const absolutePath = /(?:^|[\s'"`(=:])\/[^\s/]/;
/** Most protected paths that a line names. */
const mostNamed = 5;

/**
 * Returns a line about the protected paths that lines of refusals name, or that hold the working directory where these name no other place;
 * undefined if there are none. Some programs go on then and report success.
 */
export function describeProtection(
  printed: string,
  kept: readonly string[],
  cwd: string,
  remedy: string | undefined,
  print: (path: string) => string,
): string[] | undefined {
  const named = new Set<string>();
  const around = kept.find((path) => isInside(path, cwd));
  for (const line of printed.split("\n").filter((printedLine) => protectSign.test(printedLine))) {
    const matches = kept.map((path) => ({ path, length: lengthOfTail(path, line) }));
    const longest = Math.max(...matches.map(({ length }) => length));
    for (const { path, length } of matches) if (length > 0 && length === longest) named.add(path);
    if (around !== undefined && longest === 0 && !absolutePath.test(line.replace(program, ""))) named.add(around);
  }
  if (named.size === 0) return undefined;
  const advice = remedy ? `; ${remedy}` : "";
  return [
    `[sandbox: commands cannot change ${[...named].slice(0, mostNamed).map(print).join(", ")}, which is protected${advice}]`,
  ];
}

/** Returns how much of the end of a path the line names: `.envrc`, but `.git/config`, as many files are called so. */
function lengthOfTail(path: string, line: string): number {
  const names = path.split("/");
  const tails = names.map((_, index) => names.slice(index).join("/"));
  return tails.find((tail) => /[./]/.test(tail) && isNamed(tail, path, line))?.length ?? 0;
}

/** Returns whether a line names the end of a path, and not the end, or a part, of another absolute path. */
function isNamed(tail: string, path: string, line: string): boolean {
  for (let at = line.indexOf(tail); at >= 0; at = line.indexOf(tail, at + 1)) {
    const before = /[^\s'"`(=]*$/.exec(line.slice(0, at))?.[0] ?? "";
    if (!before.startsWith("/") || `${before}${tail}` === path) return true;
  }
  return false;
}
