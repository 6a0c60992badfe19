import { basename } from "node:path";
import type { ToolEffect } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import { describeEffect } from "../describe.ts";
import type { FileKind } from "../programs/record.ts";
import { findProgram } from "../programs/table.ts";
import type { Settings } from "../settings.ts";
import { notTold, type Verdict } from "../verdict.ts";
import { type CommandLine, handsOn, type LineCommand, subjectOf } from "./commandLine.ts";

/*
 * A line is judged by the names in it and by what the disk holds before it runs. What the words do not name, a sandbox holds, or the user is
 * asked where a rule is about such files.
 */

/** Asks about commands that open files which no word names, or change names while others open files by theirs. */
export function judgeBeyond(line: CommandLine, settings: Settings): Verdict[] {
  const { limited } = settings;
  if (limited.size === 0 || line.unreadable !== undefined || isHeld(line.effect, settings)) return [];
  if (!line.isFollowed) {
    const subject = { what: describeEffect(line.effect, settings.scope), effect: line.effect };
    const why = "rules are about files, and the folder that a command runs in cannot be told";
    return [notTold("unreadable", settings.mode, why, subject)];
  }
  return line.commands.flatMap((command) => {
    // A rule that spells all of it out has answered.
    if (command.spelledOut) return [];
    const why = whyBeyond(command, line, limited);
    if (why === undefined) return [];
    return [notTold("unreadable", settings.mode, `rules are about files, and ${why}`, subjectOf(command, line))];
  });
}

function whyBeyond(command: LineCommand, line: CommandLine, limited: ReadonlySet<FileKind>): string | undefined {
  // What only reads takes them as text (`xargs echo`), or it would not be told what it reads.
  const opensMore = command.moreWords === true && typeof command.reads === "string";
  if (opensMore || handsOn(command)) return "it gets words that the line does not show";
  for (const { kinds, folders, brings } of command.beyond) {
    if (folders === undefined && kinds.some((kind) => limited.has(kind)))
      return "it opens files that its words do not name";
    if (brings && opensOthers(line, command, limited))
      return "it may put a file where another part of the line opens one";
  }
  return undefined;
}

/** Returns whether another part of the line opens files by their names, in a way that rules are about. */
function opensOthers(line: CommandLine, command: LineCommand, limited: ReadonlySet<FileKind>): boolean {
  const others = line.commands.filter((one) => one !== command);
  const kinds = [
    ...line.redirections.flatMap(({ kind, path }) => (path === "/dev/null" ? [] : [kind])),
    ...others.flatMap(kindsOf),
  ];
  return kinds.some((kind) => limited.has(kind));
}

/** Lists what a command does with the files that its words name. */
function kindsOf(command: LineCommand): readonly FileKind[] {
  const { known, reads, moves, ofRepository, beyond } = command;
  // Git writes nothing through a link.
  if (moves || ofRepository) return [];
  if (typeof reads !== "string") return reads.paths.length > 0 ? ["read"] : [];
  if (beyond.length > 0) return beyond.flatMap(({ kinds, put }) => (put ? [...kinds, "write"] : kinds));
  return findProgram(basename(known[0] ?? ""))?.covers === "anything" ? ["write"] : [];
}

/** The end of what a sandbox says of itself: the patterns of paths that it hides, and the folders where it does. */
const hiding = /; deny (\[.*\]) in (\[".*"\])$/s;

/**
 * Returns whether our own sandbox keeps a command from all that rules forbid: each is a denial of paths that it hides in the roots, and it
 * leaves no protected path unprotected.
 */
export function isHeld({ confinement = "" }: ToolEffect, { ofFiles, roots }: Settings): boolean {
  if (!/^sandbox(?:;|$)/.test(confinement) || confinement.includes("; unprotected [")) return false;
  const [patterns = [], folders = []] = (hiding.exec(confinement)?.slice(1) ?? []).map(listed);
  const isHidden = (pattern: string): boolean => patterns.includes(pattern);
  return Object.values(ofFiles).every(({ ask, deny: [denied] }) => {
    if (ask.length > 0) return false;
    if (denied === undefined) return true;
    const isHiding = denied.bare.length === 0 && [...denied.byPattern.keys()].every(isHidden);
    return isHiding && roots.every((one) => folders.includes(one));
  });
}

function listed(text: string): readonly string[] {
  const list: unknown = attempt(() => JSON.parse(text));
  return Array.isArray(list) ? list.map(String) : [];
}
