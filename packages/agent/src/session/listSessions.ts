import { readSync } from "node:fs";
import { basename, join } from "node:path";
import { isObject } from "@toolcrib/core/text";
import { textOf } from "../conversation/conversation.ts";
import type { Message } from "../messages.ts";
import { openSessionFile } from "./sessionPath.ts";

/** One session of a folder, from the first 64 KB of its journal. */
export interface SessionSummary {
  readonly file: string;
  /** Short and stable: the last part of a name that `newSessionFile` made, else the whole name without `.jsonl`. */
  readonly id: string;
  /** Of the journal. */
  readonly bytes: number;
  readonly name: string | undefined;
  /** The times of its beginning and of the last write. */
  readonly startedAt: Date;
  readonly changedAt: Date;
  /** The first line of the user's first message. */
  readonly topic: string;
}

const headBytes = 64 * 1024;

/** Creates a file name for a new journal: names sort by time and no two are equal. */
export function newSessionFile(folder: string, now: Date = new Date()): string {
  const time = now.toISOString().slice(0, 19).replaceAll(":", "-");
  return join(folder, `${time}-${crypto.randomUUID().slice(0, 6)}.jsonl`);
}

/** Returns the id of a journal, from its name. */
export function sessionId(file: string): string {
  const name = basename(file, ".jsonl");
  return /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-([0-9a-f]{6})$/.exec(name)?.[1] ?? name;
}

/** Returns the journals of a folder, last changed first; none when the folder does not exist. Leaves out other files, links and pipes. */
export async function listSessions(folder: string): Promise<SessionSummary[]> {
  const { readdir } = process.getBuiltinModule("node:fs/promises");
  const names = await readdir(folder).catch(() => []);
  const found: SessionSummary[] = [];
  for (const name of names.filter((one) => one.endsWith(".jsonl"))) {
    const summary = await summaryOf(join(folder, name)).catch(() => undefined);
    if (summary) found.push(summary);
  }
  return found.sort((a, b) => b.changedAt.getTime() - a.changedAt.getTime());
}

async function summaryOf(file: string): Promise<SessionSummary | undefined> {
  const { descriptor, stats, close } = await openSessionFile(file);
  const buffer = Buffer.alloc(headBytes);
  let bytesRead: number;
  try {
    bytesRead = readSync(descriptor, buffer, 0, headBytes, 0);
  } finally {
    close();
  }
  const [header, ...lines] = buffer.toString("utf8", 0, bytesRead).split("\n");
  const first: unknown = JSON.parse(header ?? "");
  if (!isObject(first) || first.type !== "session") return undefined;
  const name = typeof first.name === "string" ? first.name : undefined;
  const times = { startedAt: new Date(String(first.savedAt)), changedAt: stats.mtime };
  return { file, id: sessionId(file), bytes: stats.size, name, ...times, topic: topicOf(lines) };
}

function topicOf(lines: readonly string[]): string {
  for (const line of lines) {
    try {
      const { message, messages } = JSON.parse(line) as { message?: Message; messages?: Message[] };
      const user = [message, ...(messages ?? [])].find((one) => one?.role === "user");
      if (user?.role === "user") return textOf(user).split("\n")[0]?.slice(0, 120) ?? "";
    } catch {
      return "";
    }
  }
  return "";
}
