import type { SimpleCommand } from "../shell/shellLine.ts";

/**
 * Variables that a call may set for a command that is allowed: they change how much is printed, and in which language or colours.
 * Any other could choose what runs (`PATH`, `LD_PRELOAD`, `NODE_OPTIONS`, `GIT_*`, `BASH_ENV`, `EDITOR` and many more), so it is
 * asked about. So is one of a language, a terminal or a time zone whose value is a path.
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
]);

const harmless = new Set(harmlessVariables);
/** Names that no program reads: those of programs are in capitals, or have an underscore (`http_proxy`, `npm_config_x`). */
const ofTheLine = /^[a-z][a-z0-9]*$/;

/** Programs look for a file of this name below a folder of the system, which a path leaves. */
const namesFile = /^(?:LANG|LANGUAGE|LC_[A-Z]+|TERM)$/;

function isHarmless(name: string, value: string, literal = true): boolean {
  if (!harmless.has(name)) return false;
  if (name === "TZ") return literal && !/^[:/]|(?:^|\/)\.\.(?:\/|$)/.test(value);
  return !namesFile.test(name) || (literal && !value.includes("/"));
}

/** The first variable that could change what runs: of those that the call sets, and those that its commands set. */
export function riskyVariable(
  env: Readonly<Record<string, string>>,
  commands: readonly SimpleCommand[],
): string | undefined {
  const given = Object.entries(env).find(([name, value]) => !isHarmless(name, value));
  if (given !== undefined) return given[0];
  for (const { assignments } of commands) {
    for (const { name, value, literal, exported } of assignments) {
      if (!isHarmless(name, value, literal) && (exported || !ofTheLine.test(name))) return name;
    }
  }
  return undefined;
}
