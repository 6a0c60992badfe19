import { readFile } from "node:fs";
import { promisify } from "node:util";
import { isObject } from "@toolcrib/core/text";
import { repairConversation } from "../conversation/repair.ts";
import { addUsage, noUsage } from "../conversation/usage.ts";
import { messageOf } from "../errors.ts";
import type { Message, Usage } from "../messages.ts";
import { badSession, checkHeader, checkMessage, checkSession, type JournalLine, type Session } from "./session.ts";
import { openSessionFile } from "./sessionPath.ts";

/** A session that was read. */
interface OpenedSession {
  readonly session: Session;
  /** Set for a journal: the bytes of its whole lines. A crash left what follows. */
  readonly journalBytes?: number;
}

/** Opens a file written by `save_session_context` or a journal, or checks a session at hand. Throws `bad_session`. */
export async function openSession(fileOrSession: string | Session): Promise<OpenedSession> {
  if (typeof fileOrSession !== "string") return { session: checkSession(fileOrSession, "given") };
  let text: string;
  try {
    text = await readSession(fileOrSession);
  } catch (cause) {
    throw badSession(fileOrSession, messageOf(cause), cause);
  }
  return parseSession(text, fileOrSession);
}

async function readSession(file: string): Promise<string> {
  const { descriptor, close } = await openSessionFile(file);
  try {
    return await promisify(readFile)(descriptor, "utf8");
  } finally {
    close();
  }
}

/** Reads either form; `source` names it in errors. */
function parseSession(text: string, source: string): OpenedSession {
  const end = text.indexOf("\n");
  const first = parse(end < 0 ? text : text.slice(0, end));
  if (isObject(first) && first.type === "session") return readJournal(text, source);
  const whole = parse(text);
  if (whole === undefined) throw badSession(source, "it is not JSON");
  return { session: checkSession(whole, source) };
}

function readJournal(text: string, source: string): OpenedSession {
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

  take(line: unknown, at: string): void {
    if (!isObject(line)) throw badSession(at, "it is not a JSON object");
    const { type, message, messages, callIds, usage, systemPrompt } = line as Partial<Record<string, unknown>>;
    switch (type as JournalLine["type"]) {
      case "session":
        this.#header = { ...checkHeader(line, at) };
        break;
      case "message":
        this.#messages.push(checkMessage(message, at));
        if (isObject(usage)) this.#usage = addUsage(this.#usage, usage as unknown as Usage);
        break;
      case "tool-start":
        for (const id of Array.isArray(callIds) ? callIds : []) this.#started.add(String(id));
        break;
      case "messages":
        if (!Array.isArray(messages)) throw badSession(at, "messages is not a list");
        this.#messages = messages.map((one) => checkMessage(one, at));
        break;
      case "system-prompt":
        this.#header.systemPrompt = String(systemPrompt);
        break;
      default:
        throw badSession(at, `unknown type ${JSON.stringify(type)}`);
    }
  }

  session(): Session {
    const { type: _, ...header } = this.#header;
    const messages = repairConversation(this.#messages, this.#started);
    return { ...(header as unknown as Session), messages, usage: this.#usage };
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
