import { invalidArgument } from "@toolcrib/core";
import { clip, showInvisible } from "@toolcrib/core/text";

/** One file's part of a patch. `line` is that of its header, from 1. */
export type PatchOperation = { readonly line: number; readonly path: string } & (
  | { readonly kind: "add"; readonly content: string }
  | { readonly kind: "delete" }
  | { readonly kind: "update"; readonly newPath: string | undefined; readonly hunks: readonly Hunk[] }
);

/** One change within a file. */
export interface Hunk {
  /** Of its first line in the patch, from 1. */
  readonly line: number;
  /** Lines of the file that come before it, in order: each is looked for after the one before. */
  readonly anchors: readonly string[];
  readonly lines: readonly HunkLine[];
  /** The number of lines at its end that are empty in the patch: of the file, or between parts of the patch. */
  readonly blanks: number;
  /** True if its last old line is the last of the file. */
  readonly atEnd: boolean;
}

/** A line that stays (` `), goes (`-`) or comes (`+`). */
export interface HunkLine {
  readonly kind: " " | "-" | "+";
  readonly text: string;
}

/** The argument that holds the patch. */
export const patchField = "input";

/** Files that one patch may change. */
const mostFiles = 500;

const begin = "*** Begin Patch";
const end = "*** End Patch";
const header = /^\*\*\* (Add File|Delete File|Update File): (.*)$/;
/** In a hunk a line that starts with a space is one of the file. */
const indentedHeader = /^\s*\*\*\* (Add File|Delete File|Update File): (.*)$/;
/** Wrappers that models put around a patch: a Markdown fence, a cell's first line, a heredoc with or without its command. */
const wrapper = /^\s*(?:(```)\w*|%%bash|(?:(?:apply_patch|cat)\s*)?<<-?\s*(["']?)(\w+)\2)\s*$/;
const mostWrappers = 4;

/** Returns the lines of a patch within what is around it; `before` counts those that were left out above. */
function unwrap(input: string): { lines: string[]; before: number } {
  let lines = input.trimEnd().split(/\r?\n/);
  let before = 0;
  const dropHead = (count: number): void => {
    lines = lines.slice(count);
    before += count;
  };
  const dropBlank = (): void => dropHead(Math.max(0, indexWithin(lines, 0, lines.length, isNotBlank)));
  const whole = lines;
  dropBlank();
  for (let count = 0; count < mostWrappers; count += 1) {
    const found = wrapper.exec(lines[0] ?? "");
    if (found === null) break;
    const closing = found[1] ?? found[3];
    dropHead(1);
    if (closing !== undefined && lines.at(-1)?.trim() === closing) lines = lines.slice(0, -1);
    lines = lines.slice(0, lines.findLastIndex(isNotBlank) + 1);
    dropBlank();
  }
  return lines.length > 0 ? { lines, before } : { lines: whole.slice(0, 1), before: 0 };
}

function isNotBlank(line: string): boolean {
  return line.trim() !== "";
}

/**
 * Reads a patch in the V4A format. Throws (`invalid_arguments`), with the number of the line, for what is none. What is around it and
 * blank lines between its parts are passed over; else nothing of it is guessed, but that an empty line in a hunk is one of the file.
 */
export function parsePatch(input: string): PatchOperation[] {
  const { lines, before } = unwrap(input);
  const refuse = (at: number, reason: string): never => {
    const line = lines[at];
    const shown = line === undefined ? "" : ` (${showInvisible(clip(line, 80))})`;
    throw invalidArgument(patchField, `line ${before + at + 1}${shown}: ${reason}`);
  };
  if (lines[0]?.trim() !== begin) refuse(0, `a patch begins with ${begin}`);
  const last = lines.length - 1;
  if (last === 0 || lines[last]?.trim() !== end) refuse(last, `a patch ends with ${end}; give it whole`);

  const operations: PatchOperation[] = [];
  for (let at = indexWithin(lines, 1, last, isNotBlank); at < last; ) {
    const [, kind, given = ""] = indentedHeader.exec(lines[at] ?? "") ?? [];
    if (kind === undefined) refuse(at, "expected *** Add File: PATH, *** Update File: PATH or *** Delete File: PATH");
    const path = given.trim();
    if (path === "") refuse(at, "names no file");
    if (operations.length === mostFiles)
      refuse(at, `a patch changes at most ${mostFiles} files; give the rest in another`);
    const nextHeader = kind === "Update File" ? header : indentedHeader;
    const next = indexWithin(lines, at + 1, last, (one) => nextHeader.test(one));
    const line = before + at + 1;
    if (kind === "Delete File") {
      const more = indexWithin(lines, at + 1, next, isNotBlank);
      if (more < next) refuse(more, "nothing follows *** Delete File");
      operations.push({ kind: "delete", line, path });
    } else if (kind === "Add File") {
      const behind = indexWithin(lines, at + 1, next, (one) => !one.startsWith("+"));
      const wrong = indexWithin(lines, behind, next, isNotBlank);
      if (wrong < next) refuse(behind, "each line of a new file starts with +");
      const content = lines.slice(at + 1, behind).map((one) => `${one.slice(1)}\n`);
      operations.push({ kind: "add", line, path, content: content.join("") });
    } else {
      const newPath = /^\*\*\* Move to: (.*)$/.exec(lines[at + 1] ?? "")?.[1]?.trim();
      if (newPath === "") refuse(at + 1, "names no file");
      const hunks = parseHunks(lines, newPath === undefined ? at + 1 : at + 2, next, before, refuse);
      const wrong = hunks.find(({ lines: all }) => newPath === undefined && !all.some(({ kind }) => kind !== " "));
      if (wrong !== undefined) refuse(wrong.line - 1 - before, "a hunk needs a line that starts with - or +");
      if (hunks.length === 0 && newPath === undefined) refuse(at, "changes nothing; give at least one hunk");
      operations.push({ kind: "update", line, path, newPath, hunks });
    }
    at = next;
  }
  if (operations.length === 0) refuse(0, "changes no file");
  return operations;
}

/** Returns the first line from `from` on that fits; `to` where none before it does. */
function indexWithin(lines: readonly string[], from: number, to: number, fits: (line: string) => boolean): number {
  for (let at = from; at < to; at += 1) {
    const line = lines[at];
    if (line !== undefined && fits(line)) return at;
  }
  return to;
}

function parseHunks(
  lines: readonly string[],
  from: number,
  to: number,
  before: number,
  refuse: (at: number, reason: string) => never,
): Hunk[] {
  const hunks: { line: number; anchors: string[]; lines: HunkLine[]; blanks: number; atEnd: boolean }[] = [];
  const begin = (at: number): (typeof hunks)[number] => {
    const hunk = { line: before + at + 1, anchors: [], lines: [], blanks: 0, atEnd: false };
    hunks.push(hunk);
    return hunk;
  };
  const open = (at: number): (typeof hunks)[number] => {
    const current = hunks.at(-1);
    return current === undefined || current.atEnd ? begin(at) : current;
  };
  for (let at = from; at < to; at += 1) {
    const line = lines[at] ?? "";
    if (line.startsWith("@@")) {
      // Another @@ right after one narrows the place further.
      const current = open(at);
      const hunk = current.lines.length > 0 ? begin(at) : current;
      const anchor = anchorOf(line);
      if (anchor !== "") hunk.anchors.push(anchor);
    } else if (line === "*** End of File") {
      open(at).atEnd = true;
    } else if (line === "") {
      // Before the first line of a hunk it is no part of it.
      const current = hunks.at(-1);
      if (current === undefined || current.atEnd || current.lines.length === 0) continue;
      current.lines.push({ kind: " ", text: "" });
      current.blanks += 1;
    } else {
      const kind = line[0];
      if (kind !== " " && kind !== "-" && kind !== "+") {
        return refuse(at, "each line of a hunk starts with a space (kept), - (removed) or + (added)");
      }
      const hunk = open(at);
      hunk.lines.push({ kind, text: line.slice(1) });
      hunk.blanks = 0;
    }
  }
  return hunks;
}

/** Returns the line after `@@`; empty for none. The line numbers of a unified diff are passed over. */
function anchorOf(line: string): string {
  return /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/.test(line) ? "" : line.slice(2).trim();
}
