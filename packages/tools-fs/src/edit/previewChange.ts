import { type FsToolOptions, maxBytesOf, scopeOf } from "../options.ts";
import { proposeChanges } from "../proposeChanges.ts";
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
  const scope = scopeOf("previewChange", options);
  const changes = await proposeChanges(name, args, options, signal);
  if (!changes) return undefined;
  const diffs: string[] = [];
  for (const { path, before = "", after = "" } of changes)
    diffs.push(await unifiedDiff(scope.print(path), before, after, maxBytesOf(options)));
  return diffs.join("");
}
