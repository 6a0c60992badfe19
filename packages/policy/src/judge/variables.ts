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

/** The first variable that could change what runs. */
export function riskyVariable(names: readonly string[]): string | undefined {
  return names.find((name) => !harmless.has(name));
}
