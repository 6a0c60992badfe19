import { fstatSync, readFile } from "node:fs";
import { promisify } from "node:util";
import { isObject, messageOf } from "@toolcrib/core/text";
import { foundBy } from "../conversation/foundTools.ts";
import { repairConversation } from "../conversation/repair.ts";
import { addUsage, noUsage } from "../conversation/usage.ts";
import { isAnswer, putResult, stillWaiting, type WaitingCall, withoutResults } from "../conversation/waiting.ts";
import type { Message, Usage } from "../messages.ts";
import type { ReadJournal } from "./journal.ts";
import {
  badSession,
  checkFoundTools,
  checkHeader,
  checkMessage,
  checkPending,
  checkSession,
  checkWaiting,
  type JournalLine,
  type Session,
} from "./session.ts";
import { openSessionFile } from "./sessionPath.ts";

/** A session that was read. */
interface OpenedSession {
  readonly session: Session;
  /** Set for a journal. */
  readonly journal?: ReadJournal;
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
  const { session, journalBytes } = parseSession(read.bytes.toString(), fileOrSession);
  if (journalBytes === undefined) return { session };
  return { session, journal: { bytes: journalBytes, size: read.bytes.length, inode: read.inode } };
}

/** The bytes of a session file. Throws for anything but a regular file. */
export async function readSession(file: string): Promise<{ readonly bytes: Buffer; readonly inode: number }> {
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
  const lines = text.split("\n");
  // A crash left what follows the last newline; normally that is empty.
  const torn = lines.pop() ?? "";
  const state = new JournalReader();
  let journalBytes = Buffer.byteLength(text) - Buffer.byteLength(torn);
  for (const [index, line] of lines.entries()) {
    const value = parse(line);
    if (value === undefined && index === lines.length - 1) journalBytes -= Buffer.byteLength(line) + 1;
    else state.take(value, `${source}, line ${index + 1}`);
  }
  return { session: state.session(), journalBytes };
}

/** Rebuilds a session from the lines of its journal. */
class JournalReader {
  #header: Record<string, unknown> = {};
  #messages: Message[] = [];
  #usage: Usage = noUsage;
  readonly #started: Set<string> = new Set();
  /** Calls that wait, by id; the result of each in `#messages` is a placeholder. */
  readonly #waiting: Map<string, WaitingCall> = new Map();
  #foundTools: readonly string[] = [];

  take(line: unknown, at: string): void {
    if (!isObject(line)) throw badSession(at, "it is not a JSON object");
    const { type, messages, callIds, answers, systemPrompt } = line as Partial<Record<string, unknown>>;
    switch (type as JournalLine["type"]) {
      case "session":
        this.#header = { ...checkHeader(line, at) };
        break;
      case "message":
        this.#takeMessage(line, at);
        break;
      case "answers":
        for (const [id, answer] of Object.entries(isObject(answers) ? answers : {})) this.#takeAnswer(id, answer, at);
        break;
      case "tool-start":
        for (const id of Array.isArray(callIds) ? callIds : []) this.#started.add(String(id));
        this.#release(this.#started);
        break;
      case "messages":
        if (!Array.isArray(messages)) throw badSession(at, "messages is not a list");
        this.#messages = messages.map((one) => checkMessage(one, at));
        this.#waiting.clear();
        this.#foundTools = checkFoundTools(line.foundTools, at);
        for (const call of checkPending(line.pending, at)) this.#waiting.set(call.callId, call);
        break;
      case "system-prompt":
        this.#header.systemPrompt = String(systemPrompt);
        break;
      default:
        throw badSession(at, `unknown type ${JSON.stringify(type)}`);
    }
  }

  #takeMessage({ message: given, usage, data, pending }: Record<string, unknown>, at: string): void {
    const message = checkMessage(given, at);
    if (isObject(usage)) this.#usage = addUsage(this.#usage, usage as unknown as Usage);
    if (message.role !== "tool") {
      this.#endWaiting();
      this.#messages.push(message);
      return;
    }
    this.#waiting.delete(message.callId);
    putResult(this.#messages, message);
    this.#foundTools = [...new Set([...this.#foundTools, ...foundBy(message.name, data)])];
    if (pending === undefined) return;
    this.#waiting.set(message.callId, checkWaiting(pending, at));
    this.#started.delete(message.callId);
  }

  #takeAnswer(id: string, answer: unknown, at: string): void {
    const call = this.#waiting.get(id);
    if (!call || !isAnswer(answer)) throw badSession(at, "an answer is true, false or a reason for a call that waits");
    this.#waiting.set(id, { ...call, answer });
  }

  /** Calls whose placeholders are taken away are open: what became of them follows from whether they were started. */
  #release(callIds: ReadonlySet<string>): void {
    const released = new Set([...this.#waiting.keys()].filter((id) => callIds.has(id)));
    if (released.size > 0) this.#messages = withoutResults(this.#messages, released);
    for (const id of released) this.#waiting.delete(id);
  }

  #endWaiting(): readonly WaitingCall[] {
    const still = new Map(stillWaiting(this.#messages, this.#waiting.values()).map((call) => [call.callId, call]));
    this.#release(new Set([...this.#waiting.keys()].filter((id) => !still.has(id))));
    return [...still.values()];
  }

  session(): Session {
    const { type: _, ...header } = this.#header;
    const pending = this.#endWaiting();
    const messages = repairConversation(this.#messages, this.#started);
    return {
      ...(header as unknown as Session),
      messages,
      usage: this.#usage,
      ...(pending.length > 0 && { pending }),
      ...(this.#foundTools.length > 0 && { foundTools: this.#foundTools }),
    };
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
