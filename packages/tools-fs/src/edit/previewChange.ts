import { type FsToolOptions, maxBytesOf, scopeOf } from "../options.ts";
import { type FileChange, proposeChanges } from "../proposeChanges.ts";
import { unifiedDiff } from "./unifiedDiff.ts";

/**
 * The diff that a call of `write_file`, `edit_file` or `apply_patch` would make now, for a question before it runs; undefined for
 * other tools and for arguments that do not fit. Changes nothing, and rejects as the tool would: an edit that does not match, a path
 * outside the roots, a file that is not text.
 */
export async function previewChange(
  name: string,
  args: Readonly<Record<string, unknown>>,
  options: FsToolOptions = {},
  signal?: AbortSignal,
): Promise<string | undefined> {
  const changes = await proposeChanges(name, args, options, signal);
  return changes && diffOfChanges(changes, options);
}

/** The diff of changes that are known already, as those of another place. Relative paths start as they do for the tools. */
export async function diffOfChanges(changes: readonly FileChange[], options: FsToolOptions = {}): Promise<string> {
  const scope = scopeOf("diffOfChanges", options);
  const diffs: string[] = [];
  for (const { path, before = "", after = "" } of changes)
    diffs.push(await unifiedDiff(scope.print(path), before, after, maxBytesOf(options)));
  return diffs.join("");
}
