import { lstatSync } from "node:fs";
import { isObject } from "@toolcrib/core/text";
import { resolveFile } from "../directoryPath.ts";
import { type FsToolOptions, maxBytesOf, scopeOf } from "../options.ts";
import { applyEdits } from "./editFile.ts";
import { readEditable } from "./readEditable.ts";
import type { Edit } from "./replaceText.ts";
import { unifiedDiff } from "./unifiedDiff.ts";

/**
 * The diff that a call of `write_file` or `edit_file` would make now, for a question before it runs; undefined for other tools and for
 * arguments that do not fit. Changes nothing, and rejects as the tool would: an edit that does not match, a path outside the roots,
 * a file that is not text.
 */
export async function previewChange(
  name: string,
  args: Readonly<Record<string, unknown>>,
  options: FsToolOptions = {},
  signal?: AbortSignal,
): Promise<string | undefined> {
  const scope = scopeOf("previewChange", options);
  const { path, content, edits } = args;
  if (typeof path !== "string") return undefined;
  const isWrite = name === "write_file" && typeof content === "string";
  if (!isWrite && !(name === "edit_file" && areEdits(edits))) return undefined;
  const canonical = await resolveFile(scope, path);
  const isThere = lstatSync(canonical, { throwIfNoEntry: false }) !== undefined;
  const old = isThere || !isWrite ? readEditable(canonical, scope) : "";
  const changed = isWrite ? content : await applyEdits(old, edits as readonly Edit[], signal);
  return unifiedDiff(scope.print(canonical), old, changed, maxBytesOf(options));
}

function areEdits(edits: unknown): edits is readonly Edit[] {
  return (
    Array.isArray(edits) &&
    edits.every((one) => isObject(one) && typeof one.old_text === "string" && typeof one.new_text === "string")
  );
}
