import { fstatSync, readFile } from "node:fs";
import { promisify } from "node:util";
import { attempt } from "@toolcrib/core/internal";
import { isObject, messageOf } from "@toolcrib/core/text";
import { openCalls } from "../conversation/conversation.ts";
import { repairConversation } from "../conversation/repair.ts";
import {
  apply,
  type ConversationLine,
  type ConversationState,
  emptyState,
  savedStateOf,
} from "../conversation/state.ts";
import { putResult, readyToGoOn, stillWaiting, waitingResult, withoutResults } from "../conversation/waiting.ts";
import { badSession, checkHeader, checkLine, checkSession } from "./checkSession.ts";
import type { ReadJournal } from "./journal.ts";
import type { Session } from "./session.ts";
import { openSessionFile } from "./sessionPath.ts";

/** A session that was read. */
interface OpenedSession {
  readonly session: Session;
  /** Set for a journal, as are its lines behind the header. */
  readonly journal?: ReadJournal;
  readonly lines?: readonly ConversationLine[];
}

/** Opens a file written by `save_session_context` or a journal, or checks a session at hand. Throws `bad_session`. */
export async function openSession(fileOrSession: string | Session): Promise<OpenedSession> {
  if (typeof fileOrSession !== "string") return { session: checkSession(fileOrSession, "given") };
  let read: { readonly bytes: Buffer; readonly inode: number };
  try {
    read = await readSession(fileOrSession);
  } catch (cause) {
    throw badSession(fileOrSession, messageOf(cause), cause);
  }
  const { journalBytes, ...parsed } = parseSession(read.bytes.toString(), fileOrSession);
  if (journalBytes === undefined) return parsed;
  return { ...parsed, journal: { bytes: journalBytes, size: read.bytes.length, inode: read.inode } };
}

/** Returns the bytes of a session file. Throws for anything but a regular file. */
async function readSession(file: string): Promise<{ readonly bytes: Buffer; readonly inode: number }> {
  const { descriptor, close } = await openSessionFile(file);
  try {
    return { bytes: await promisify(readFile)(descriptor), inode: fstatSync(descriptor).ino };
  } finally {
    close();
  }
}

/** `journalBytes`: of a journal's whole lines; a crash left what follows. */
interface ParsedSession {
  readonly session: Session;
  readonly lines?: readonly ConversationLine[];
  readonly journalBytes?: number;
}

/** Reads either form; `source` names it in errors. */
function parseSession(text: string, source: string): ParsedSession {
  const end = text.indexOf("\n");
  const first = parse(end < 0 ? text : text.slice(0, end));
  if (isObject(first) && first.type === "session") return readJournal(text, source);
  const whole = parse(text);
  if (whole === undefined) throw badSession(source, "it is not JSON");
  return { session: checkSession(whole, source) };
}

function readJournal(text: string, source: string): ParsedSession {
  const texts = text.split("\n");
  // A crash left what follows the last newline; normally that is empty.
  const torn = texts.pop() ?? "";
  let header: ReturnType<typeof checkHeader> = {};
  let journalBytes = Buffer.byteLength(text) - Buffer.byteLength(torn);
  const lines: ConversationLine[] = [];
  const state = emptyState();
  for (const [index, one] of texts.entries()) {
    const value = parse(one);
    const at = `${source}, line ${index + 1}`;
    if (value === undefined && index === texts.length - 1) journalBytes -= Buffer.byteLength(one) + 1;
    else if (index === 0) {
      header = checkHeader(value, at);
      state.systemPrompt = String(header.systemPrompt);
    } else {
      const line = checkLine(value, at, state);
      lines.push(line);
      apply(state, line);
    }
  }
  const { type: _, ...named } = header;
  return { session: { ...(named as Session), ...savedState(state) }, lines, journalBytes };
}

/**
 * Picks what a session keeps of a state. Calls whose process has ended meanwhile get a result that says so; those that keep a record wait to
 * go on by it, and the calls after them with them.
 */
function savedState(state: ConversationState): Omit<Session, "format" | "version" | "savedAt"> {
  const { systemPrompt, waiting, started, recorded } = state;
  const [first] = recorded.values();
  for (const call of first ? openCalls(state.messages) : []) {
    const kept = recorded.get(call.id);
    if (!kept && started.has(call.id)) continue;
    waiting.set(call.id, kept ? readyToGoOn(kept) : { callId: call.id, step: first?.step ?? 0 });
    putResult(state.messages, waitingResult(call, kept?.log));
  }
  const pending = stillWaiting(state.messages, waiting.values());
  const messages = pending.length > 0 ? state.messages : withoutResults(state.messages, new Set(waiting.keys()));
  return { systemPrompt, messages: repairConversation(messages, started), ...savedStateOf(state, pending) };
}

function parse(text: string): unknown {
  return attempt(() => JSON.parse(text));
}
