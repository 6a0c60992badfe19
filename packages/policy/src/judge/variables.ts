import type { SimpleCommand } from "../shell/shellLine.ts";

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

/** What a variable may hold if not every value is harmless. */
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
