import { basename, join } from "node:path";
import type { Compacted } from "@toolcrib/agent";
import { oneLine } from "@toolcrib/core/internal";
import type { UndoneTurn } from "@toolcrib/tools-fs/undo";
import { writeNewFile } from "../../state/givenFile.ts";
import { describeSession, exportSession, sessionChoice } from "../../state/sessionFile.ts";
import { makeStateFolder } from "../../state/stateFolder.ts";
import { numberedRows } from "../../terminal/ask.ts";
import type { Conversation } from "../conversation.ts";
import { describeLastExchange } from "./describeContext.ts";
import type { CommandReply, SlashContext } from "./slashContext.ts";

export function describeCompacted(done: Compacted | undefined): string {
  if (!done) return "There is nothing to shorten.";
  const { summarisedMessages: summarised, leftOutMessages: leftOut = 0, cutMessages = 0 } = done;
  const parts = [
    summarised > 0 && `A summary now replaces ${summarised} messages.`,
    leftOut > 0 && `Older messages that did not fit are left out: ${leftOut}.`,
    cutMessages > 0 && `Long messages that were cut: ${cutMessages}.`,
  ];
  return parts.filter(Boolean).join(" ");
}

export async function resume({ conversation, pick }: SlashContext, name: string | undefined): Promise<CommandReply> {
  const { sessions } = conversation.parts;
  const found = await sessions.list();
  if (found.length === 0) return "There is no conversation in this directory yet.";
  const choices = found.map((one) => {
    const mark = one.file === conversation.journal ? "  (this one)" : "";
    return sessionChoice(one, `${describeSession(one)}${mark}`);
  });
  if (name === undefined && !pick)
    return `${numberedRows(choices, ": toolcrib sessions list shows their numbers, which count here too")}\n/resume NUMBER continues one.`;
  const chosen = name === undefined ? found[(await pick?.(choices)) ?? -1] : await sessions.find(name);
  if (!chosen)
    return name && `There is no conversation ${name}: write /resume and an id, or a number from 1 to ${found.length}.`;
  await conversation.switchTo(chosen.file);
  const last = describeLastExchange(conversation);
  return `Continuing  ${describeSession(chosen)}: ${conversation.agent.sessionContext.length} messages.${last === undefined ? "" : `\n\n${last}`}`;
}

/** Takes back the last turn that changed files by tools, and names what commands did in it and after it. */
export async function undoTurn({ built: { undo }, parts }: Conversation, cwd: string): Promise<CommandReply> {
  const { remote } = parts.flags;
  if (remote) return `/undo takes back only changes on this machine: those on ${oneLine(remote.name, 100)} stay.`;
  if (!undo) return "Nothing was saved for undo: this conversation is not among those of this directory.";
  const turns: UndoneTurn[] = [];
  let last: UndoneTurn | undefined;
  do {
    last = await undo.undo();
    if (last) turns.unshift(last);
  } while (last && last.restored.length + last.left.length === 0);
  const notUndoable = turns.flatMap((turn) => turn.notUndoable);
  if (last) {
    const { describeUndone } = await import("@toolcrib/tools-fs/undo");
    return describeUndone({ ...last, notUndoable }, cwd);
  }
  const rows = notUndoable.map(({ tool, what }) => `\n  not undone  ${tool}: ${what}`);
  return `There is no turn left that changed anything.${rows.join("")}`;
}

/** Writes the conversation to a new file: the one that is named, else where the user says. */
export async function exportTo(
  { program, conversation, asker }: SlashContext,
  words: readonly string[],
): Promise<CommandReply> {
  const { journal } = conversation;
  if (journal === undefined || conversation.agent.sessionContext.length === 0) return "There is nothing to export yet.";
  let file = words.join(" ");
  if (file === "") {
    // Not in the directory: searches would find it there.
    const offered = join(makeStateFolder(program.folders, "exports"), `${basename(journal, ".jsonl")}.html`);
    const answer = asker
      ? await asker.ask(`To which file, .html or .md? Esc leaves, Enter takes\n${oneLine(offered, 300)}: `, undefined)
      : "";
    if (answer === undefined) return "Nothing was written.";
    file = answer.trim() || offered;
  }
  if (file.startsWith("~/")) file = join(program.folders.home, file.slice(2));
  const content = await exportSession(journal, file.endsWith(".md") ? "md" : "html", program.env);
  writeNewFile(file, content, program.cwd);
  return `Written to ${oneLine(file, 300)}. It contains all messages and everything that was read: look through it before you share it.`;
}
