import { existsSync, realpathSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { attempt } from "@toolcrib/core/internal";
import { isInside } from "@toolcrib/kit/files";

/** The code to run before a command, and the file that it leaves. */
export interface BeforeCommand {
  /** Shell code that leaves the rest of the script as it is. */
  readonly script: string;
  /** The file that it writes. */
  readonly file?: string | undefined;
}

/**
 * Keeps git from taking placeholders for files. On Linux the package puts devices where protected names of this process's directory are
 * missing, so `git add -A` fails. Git is given a list that has them and the user's own.
 */
export function excludePlaceholders(directories: readonly string[], temporary: string, id: string): BeforeCommand {
  const place = attempt(() => realpathSync(process.cwd()));
  if (process.platform !== "linux" || place === undefined || !directories.some((root) => isInside(root, place)))
    return { script: "" };
  let top = place;
  while (!existsSync(join(top, ".git")) && dirname(top) !== top) top = dirname(top);
  const file = join(temporary, `excludes-${id}`);
  const words = { file, place, prefix: join("/", relative(top, place), "/") };
  const named = Object.entries(words).map(([name, value]) => `_${name}=${quoted(value)}`);
  const script = `${named.join("\n")}
for _f in "$_place"/.* "$_place"/.*/*; do if [ -c "$_f" ]; then echo "$_prefix\${_f#"$_place"/}"; fi; done >"$_file"
if [ -s "$_file" ]; then _own=$(git config --get --type=path core.excludesFile 2>/dev/null)
cat "\${_own:-\${XDG_CONFIG_HOME:-$HOME/.config}/git/ignore}" >>"$_file" 2>/dev/null
_n=\${GIT_CONFIG_COUNT:-0}; export GIT_CONFIG_COUNT=$((_n + 1))
export GIT_CONFIG_KEY_$_n=core.excludesFile "GIT_CONFIG_VALUE_$_n=$_file"; fi
`;
  return { script, file };
}

/** Quotes a word for a POSIX shell. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
