import { lstatSync, type Stats } from "node:fs";
import {
  defineTool,
  type ExecutableTool,
  invalidArgument,
  type ToolEffect,
  ToolError,
  toolOutput,
} from "@toolcrib/core";
import {
  LookAlikes,
  type MeantPath,
  missingPathHint,
  type PathScope,
  pathEffect,
  plainSystemError,
  refuseSpecial,
} from "@toolcrib/kit/files";
import { objectSchema } from "@toolcrib/kit/text";
import { refuseDirectoryPath } from "../directoryPath.ts";
import { keepByteOrderMark, longestEditable, readEditable } from "../edit/readEditable.ts";
import {
  createChangeQueue,
  type FsSettings,
  type FsToolOptions,
  listOf,
  oneOf,
  origin,
  settingsOf,
  text,
} from "../options.ts";
import { refuseProtected } from "../remove/protectedPaths.ts";
import { createSeenFiles } from "../seenFiles.ts";
import { alikeNote, inPlaceNote } from "../writeFile.ts";
import { createYielder } from "../yieldToEventLoop.ts";
import { applyHunks } from "./applyHunks.ts";
import { type Change, commitChanges } from "./commitChanges.ts";
import { type PatchOperation, parsePatch, patchField } from "./parsePatch.ts";

const parameters = {
  type: "object",
  properties: {
    input: { type: "string", description: "The patch, from *** Begin Patch to *** End Patch" },
  },
  required: ["input"],
  additionalProperties: false,
} as const;

const changeKinds = oneOf("create", "replace", "move", "remove");

/** Makes `apply_patch`, which adds, changes, moves and removes files by one patch in the V4A format, all or nothing. */
export function createApplyPatchTool(options: FsToolOptions = {}): ExecutableTool {
  return applyPatchTool(settingsOf("createApplyPatchTool", options));
}

/** Makes the tool from settings that the tools of a pack share. */
export function applyPatchTool({ scope, seen }: FsSettings): ExecutableTool {
  const inQueue = createChangeQueue();
  return defineTool({
    name: "apply_patch",
    origin,
    description:
      "Change files by a patch, all of it or nothing. Parts: *** Add File: PATH (lines with +), *** Delete File: PATH, " +
      "*** Update File: PATH (then *** Move to: PATH to rename; hunks of lines that start with a space, - or +, after @@ and a line above).",
    parameters,
    destructive: true,
    outputSchema: objectSchema({
      files: listOf(objectSchema({ path: text, change: changeKinds, "moved_from?": text })),
    }),
    effects: async ({ input }) => {
      const effects: ToolEffect[] = [];
      for (const operation of await resolveAll(parsePatch(input), scope)) effects.push(...effectsOf(operation, scope));
      return effects;
    },
    execute: async ({ input }, call) => {
      const operations = await resolveAll(parsePatch(input), scope);
      const paths = operations.flatMap(({ from, to }) => (to === undefined ? [from] : [from, to]));
      const apply = async (): Promise<string> => {
        const changes = await prepareAll(operations, { scope, seen }, call.signal);
        const names = new LookAlikes(scope);
        const alike = changes.map(({ kind, path }, at) =>
          kind === "create" || kind === "move" ? names.beside(path, operations[at]?.from) : undefined,
        );
        const inPlace = await commitChanges(changes, scope, call);
        for (const { kind, path } of changes) if (kind !== "remove") seen?.note(path, path);
        const words = changes.map((change, at) => {
          const notice = operations[at]?.notice;
          const result = inPlace.get(change.path);
          return `${describe(change, scope)}${result ? inPlaceNote(result) : ""}${alikeNote(alike[at])}${notice ? ` ${notice}` : ""}`;
        });
        return toolOutput(words.join("\n"), { data: { files: changes.map((change) => dataOf(change, scope)) } });
      };
      return inQueue(paths, apply, call.signal);
    },
  });
}

/** Returns what the patch would change now. Changes nothing, and rejects as the tool would. */
export async function patchChanges(input: string, scope: PathScope, signal?: AbortSignal): Promise<readonly Change[]> {
  return prepareAll(await resolveAll(parsePatch(input), scope), { scope, seen: undefined }, signal);
}

async function prepareAll(
  operations: readonly Resolved[],
  settings: Pick<FsSettings, "scope" | "seen">,
  signal: AbortSignal | undefined,
): Promise<Change[]> {
  const changes: Change[] = [];
  let bytes = 0;
  for (const operation of operations) {
    const change = await prepare(operation, settings, signal);
    changes.push(change);
    bytes += change.kind === "remove" ? 0 : Buffer.byteLength(change.content ?? "");
    if (bytes > longestEditable) {
      throw invalidArgument(patchField, `changes more than ${longestEditable} bytes of text; give it in parts`);
    }
  }
  return changes;
}

/** An operation with its paths resolved; `to` is where a file is moved. */
interface Resolved {
  readonly operation: PatchOperation;
  readonly from: string;
  readonly to: string | undefined;
  /** Says that another name was used than the one given. */
  readonly notice: string | undefined;
}

/** Throws for a path outside the roots, and for one that two parts of the patch name. */
async function resolveAll(operations: readonly PatchOperation[], scope: PathScope): Promise<Resolved[]> {
  const resolved: Resolved[] = [];
  const taken = new Set<string>();
  const alike = new LookAlikes(scope);
  for (const operation of operations) {
    const { path, kind, line } = operation;
    const newPath = kind === "update" ? operation.newPath : undefined;
    for (const one of [path, newPath]) if (one !== undefined) refuseDirectoryPath(one, patchField);
    const target = newPath === undefined ? undefined : await scope.resolveEntry(newPath, patchField);
    // A move to where it is changes it in its place.
    const to = target !== undefined && target === (await scope.resolveEntry(path, patchField)) ? undefined : target;
    const argument = patchField;
    let meant: MeantPath;
    if (kind === "update" && to === undefined) meant = await alike.resolve(path, "write", argument);
    else {
      // A link is itself moved or removed, and nothing that only looks the same; writing goes to its target.
      const found = kind === "add" ? scope.resolve(path, argument) : scope.resolveEntry(path, argument);
      meant = { path: await found, notice: undefined };
    }
    const { path: from, notice } = meant;
    for (const one of [from, to]) {
      if (one === undefined) continue;
      if (taken.has(one)) {
        throw invalidArgument(
          patchField,
          `line ${line}: ${scope.print(one)} is in the patch twice; put all of its changes in one part`,
        );
      }
      taken.add(one);
    }
    resolved.push({ operation, from, to, notice });
  }
  return resolved;
}

function effectsOf({ operation, from, to }: Resolved, scope: PathScope): ToolEffect[] {
  const effect = (kind: "read" | "write" | "delete"): ToolEffect => pathEffect(kind, from, operation.path, scope);
  if (operation.kind === "add") return [effect("write")];
  if (operation.kind === "delete") return [effect("delete")];
  if (to === undefined) return [effect("read"), effect("write")];
  return [effect("read"), effect("delete"), pathEffect("write", to, operation.newPath ?? to, scope)];
}

/** Works out the change of an operation. Throws where it cannot be done; nothing is changed yet. */
async function prepare(
  { operation, from, to }: Resolved,
  { scope, seen }: Pick<FsSettings, "scope" | "seen">,
  signal: AbortSignal | undefined,
): Promise<Change> {
  const printed = scope.print(from);
  const stats = look(from, printed);
  if (operation.kind === "add") {
    if (stats !== undefined) throw taken(printed, "*** Update File changes a file that exists");
    return { kind: "create", path: from, content: operation.content };
  }
  if (stats === undefined) {
    const hint = missingPathHint(from, scope);
    throw failure(`Path not found: ${printed}; ${hint === "" ? "" : `${hint}; `}*** Add File makes a new file`);
  }
  if (operation.kind === "delete" || to !== undefined) {
    refuseProtected(from, scope);
    if (!(operation.kind === "delete" && stats.isSymbolicLink())) refuseSpecial(stats, printed);
  }
  if (operation.kind === "delete") return { kind: "remove", path: from };
  if (to !== undefined && look(to, scope.print(to)) !== undefined)
    throw taken(scope.print(to), "choose another path to move to");

  // Seen now, and looked at again right before it is replaced.
  const state = createSeenFiles(false);
  const old = readEditable(from, scope, (descriptor) => {
    seen?.refuseUnseen(descriptor, from, printed);
    state.note(descriptor, from);
  });
  const changed = await keepByteOrderMark(old, (text) =>
    applyHunks(text, operation.hunks, printed, createYielder(signal)),
  );
  if (changed === old && to === undefined) {
    throw invalidArgument(patchField, `line ${operation.line}: changes nothing in ${printed}; give other lines with +`);
  }
  const content = changed === old ? undefined : changed;
  if (to !== undefined) return { kind: "move", from, path: to, old, content, state };
  return { kind: "replace", path: from, old, content: changed, state };
}

function look(path: string, printed: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw plainSystemError(error, printed);
  }
}

function failure(message: string): ToolError {
  return new ToolError({ code: "execution_failed", message });
}

function taken(printed: string, next: string): ToolError {
  return failure(`Already exists: ${printed}; nothing was changed: ${next}`);
}

function dataOf(change: Change, scope: PathScope): Record<string, string> {
  const moved = change.kind === "move" ? { moved_from: scope.shorten(change.from) } : {};
  return { path: scope.shorten(change.path), change: change.kind, ...moved };
}

function describe(change: Change, scope: PathScope): string {
  const path = scope.print(change.path);
  switch (change.kind) {
    case "create":
      return `Created ${path} (${Buffer.byteLength(change.content)} bytes)`;
    case "replace":
      return `Changed ${path}`;
    case "move":
      return `Moved ${scope.print(change.from)} to ${path}${change.content === undefined ? "" : " and changed it"}`;
    case "remove":
      return `Removed ${path}`;
  }
}
