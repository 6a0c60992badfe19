import type { SimpleCommand } from "../shell/shellLine.ts";

/**
 * Variables that a call may set for a command that is allowed: they change how much is printed, and in which language or colours.
 * Any other could choose what runs (`PATH`, `LD_PRELOAD`, `NODE_OPTIONS`, `GIT_*`, `BASH_ENV`, `EDITOR` and many more), so it is
 * asked about.
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

/** The first variable that could change what runs: of those that the call sets, and those that its commands set. */
export function riskyVariable(
  env: Readonly<Record<string, string>>,
  commands: readonly SimpleCommand[],
): string | undefined {
  const given = Object.keys(env).find((name) => !harmless.has(name));
  if (given !== undefined) return given;
  for (const { assignments } of commands) {
    for (const { name, exported } of assignments) {
      if (!harmless.has(name) && (exported || !ofTheLine.test(name))) return name;
    }
  }
  return undefined;
}
