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

interface OpenedSession {
  readonly session: Session;
  /** Set for a journal, as are its lines behind the header. */
  readonly journal?: ReadJournal;
  readonly lines?: readonly ConversationLine[];
}

/** Opens a file written by `save_session_context` or a journal, or checks a session at hand. Throws `bad_session`. */
export async function openSession(fileOrSession: string | Session): Promise<OpenedSession> {
  if (typeof fileOrSession !== "string") return { session: checkSession(fileOrSession, "given") };
  let bytes: Buffer;
  let inode: number;
  try {
    const { descriptor, close } = await openSessionFile(fileOrSession);
    try {
      [bytes, inode] = [await promisify(readFile)(descriptor), fstatSync(descriptor).ino];
    } finally {
      close();
    }
  } catch (cause) {
    throw badSession(fileOrSession, messageOf(cause), cause);
  }
  const text = bytes.toString();
  const first = parse(text.split("\n", 1)[0] ?? "");
  if (isObject(first) && first.type === "session") {
    const { torn, ...opened } = readJournal(text, fileOrSession);
    return { ...opened, journal: { bytes: Buffer.byteLength(text) - torn, size: bytes.length, inode } };
  }
  const whole = parse(text);
  if (whole === undefined) throw badSession(fileOrSession, "it is not JSON");
  return { session: checkSession(whole, fileOrSession) };
}

/** Reads a journal; `source` names it in errors. `torn`: the bytes behind its whole lines, which a crash left. */
function readJournal(text: string, source: string): OpenedSession & { readonly torn: number } {
  const texts = text.split("\n");
  // Normally empty.
  let torn = Buffer.byteLength(texts.pop() ?? "");
  let header: ReturnType<typeof checkHeader> = {};
  const lines: ConversationLine[] = [];
  const state = emptyState();
  for (const [index, one] of texts.entries()) {
    const value = parse(one);
    const at = `${source}, line ${index + 1}`;
    if (value === undefined && index === texts.length - 1) torn += Buffer.byteLength(one) + 1;
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
  return { session: { ...(named as Session), ...savedState(state) }, lines, torn };
}

/** Picks what a session keeps. Calls whose process has ended get a result that says so; those with a record, and later ones, go on waiting. */
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
