import { readSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { textOf } from "../conversation/conversation.ts";
import { isObject } from "../conversation/frozenJson.ts";
import type { Message } from "../messages.ts";
import { openSessionFile } from "./sessionPath.ts";

/** One session of a folder, as far as the head of its journal tells. */
export interface SessionSummary {
  readonly file: string;
  readonly name: string | undefined;
  /** When it began and when it was last written. */
  readonly startedAt: Date;
  readonly changedAt: Date;
  /** The first line of the user's first message. */
  readonly topic: string;
}

const headBytes = 64 * 1024;

/** A file name for a new journal: sorts by time and is not taken. */
export function newSessionFile(folder: string, now: Date = new Date()): string {
  const time = now.toISOString().slice(0, 19).replaceAll(":", "-");
  return join(folder, `${time}-${crypto.randomUUID().slice(0, 6)}.jsonl`);
}

/** The journals of a folder, last changed first; none where there is no such folder. Whatever is no journal, links and pipes too, is left out. */
export async function listSessions(folder: string): Promise<SessionSummary[]> {
  const names = await readdir(folder).catch(() => []);
  const found: SessionSummary[] = [];
  for (const name of names.filter((one) => one.endsWith(".jsonl"))) {
    const summary = await summaryOf(join(folder, name)).catch(() => undefined);
    if (summary) found.push(summary);
  }
  return found.sort((a, b) => b.changedAt.getTime() - a.changedAt.getTime());
}

async function summaryOf(file: string): Promise<SessionSummary | undefined> {
  const { head, changedAt } = await headOf(file);
  const [header, ...lines] = head.split("\n");
  const first: unknown = JSON.parse(header ?? "");
  if (!isObject(first) || first.type !== "session") return undefined;
  const name = typeof first.name === "string" ? first.name : undefined;
  const startedAt = new Date(String(first.savedAt));
  return { file, name, startedAt, changedAt, topic: topicOf(lines) };
}

async function headOf(file: string): Promise<{ head: string; changedAt: Date }> {
  const { descriptor, stats, close } = await openSessionFile(file);
  try {
    const buffer = Buffer.alloc(headBytes);
    const bytesRead = readSync(descriptor, buffer, 0, headBytes, 0);
    return { head: buffer.toString("utf8", 0, bytesRead), changedAt: stats.mtime };
  } finally {
    close();
  }
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
