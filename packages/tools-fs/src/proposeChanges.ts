import { lstatSync } from "node:fs";
import { attempt } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import type { PathScope } from "@toolcrib/kit/files";
import { resolveExistingFile, resolveFile } from "./directoryPath.ts";
import { applyEdits } from "./edit/editFile.ts";
import { readEditable } from "./edit/readEditable.ts";
import type { Edit } from "./edit/replaceText.ts";
import { unifiedDiff } from "./edit/unifiedDiff.ts";
import { type FsToolOptions, settingsOf } from "./options.ts";
import { patchChanges } from "./patch/applyPatch.ts";
import type { Change } from "./patch/commitChanges.ts";

/** The text of one file before and after a change. */
export interface FileChange {
  /** Canonical and absolute. */
  readonly path: string;
  /** Undefined for a file that is not there yet. */
  readonly before: string | undefined;
  /** Undefined for a file that would be removed. */
  readonly after: string | undefined;
}

/**
 * Returns the texts that a call of `write_file`, `edit_file` or `apply_patch` would change now, for programs that show them before it
 * runs; undefined for other tools and for arguments that do not fit. Changes nothing, and rejects as the tool would: an edit that does not
 * match, a path outside the roots, a file that is not text.
 */
export async function proposeChanges(
  name: string,
  args: Readonly<Record<string, unknown>>,
  options: FsToolOptions = {},
  signal?: AbortSignal,
): Promise<readonly FileChange[] | undefined> {
  const { scope } = settingsOf("proposeChanges", options);
  if (name === "apply_patch") {
    if (typeof args.input !== "string") return undefined;
    return (await patchChanges(args.input, scope, signal)).flatMap((change) => textsOf(change, scope));
  }
  const { path, content, edits } = args;
  if (typeof path !== "string") return undefined;
  const written = name === "write_file" && typeof content === "string" ? content : undefined;
  const edited = name === "edit_file" && areEdits(edits) ? edits : undefined;
  if (written === undefined && edited === undefined) return undefined;
  const canonical = edited ? (await resolveExistingFile(scope, path)).path : await resolveFile(scope, path);
  const isThere = lstatSync(canonical, { throwIfNoEntry: false }) !== undefined;
  const before = isThere || edited ? readEditable(canonical, scope) : undefined;
  const after = written ?? (await applyEdits(before ?? "", edited ?? [], signal));
  return [{ path: canonical, before, after }];
}

/** Returns the diff of changes that are known already, as those of another place. Relative paths start as they do for the tools. */
export async function diffOfChanges(changes: readonly FileChange[], options: FsToolOptions = {}): Promise<string> {
  const { scope, maxBytes } = settingsOf("diffOfChanges", options);
  const diffs: string[] = [];
  for (const { path, before = "", after = "" } of changes)
    diffs.push(await unifiedDiff(scope.print(path), before, after, maxBytes));
  return diffs.join("");
}

function textsOf(change: Change, scope: PathScope): FileChange[] {
  const { path } = change;
  switch (change.kind) {
    case "create":
      return [{ path, before: undefined, after: change.content }];
    case "replace":
      return [{ path, before: change.old, after: change.content }];
    case "move":
      return [
        { path: change.from, before: change.old, after: undefined },
        { path, before: undefined, after: change.content ?? change.old },
      ];
    case "remove":
      // What is not text is removed all the same.
      return [{ path, before: attempt(() => readEditable(path, scope)), after: undefined }];
  }
}

function areEdits(edits: unknown): edits is readonly Edit[] {
  return (
    Array.isArray(edits) &&
    edits.every((one) => isObject(one) && typeof one.old_text === "string" && typeof one.new_text === "string")
  );
}
