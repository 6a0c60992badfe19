import { realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { SessionSummary } from "@toolcrib/agent";
import { SessionFolder } from "@toolcrib/agent/sessions";
import { messageOf, printableName, withoutControls } from "@toolcrib/core/text";
import { fileKind, isInside } from "@toolcrib/kit/files";
import { isSecret } from "@toolcrib/kit/text";
import { usageError } from "../exitReasons.ts";
import type { SessionFlags } from "../sharedFlags.ts";
import type { Folders } from "./folders.ts";
import { refuseMore } from "./givenFile.ts";
import { makeStateFolder, stateName } from "./stateFolder.ts";

/** Megabytes of a file that `-r` names. It is read whole, and several times its size is needed for that. */
const mostSessionMegabytes = 100;

/** The name of the sessions that `toolcrib run` begins: lists have them below the conversations. */
const runName = "toolcrib run";

/** Names the session of a run, by the words of its prompt if there are any. */
export function runSessionName(words: string): string {
  const title = words.replace(/\s+/g, " ").trim().slice(0, 120);
  return title === "" ? runName : `${runName}: ${title}`;
}

function isRun(name: string | undefined): boolean {
  return name === runName || name?.startsWith(`${runName}: `) === true;
}

function titleIn(name: string | undefined): string | undefined {
  return isRun(name) ? name?.slice(runName.length + 2) || undefined : name;
}

/**
 * Opens the conversations of one working directory, outside of it: somebody else may have written the directory, and its files must not
 * become a conversation of the user.
 */
export function sessionsOf(directory: string, { state }: Folders): SessionFolder {
  return new SessionFolder(join(state, "sessions", stateName(directory)));
}

/** Lets the user pick one of some conversations: its number from 0. */
type PickSession = (choices: readonly ReturnType<typeof sessionChoice>[]) => Promise<number | undefined>;

/** Finds the conversation that `-r` names, or for `-c` the folder's last; undefined for a new one. Throws a usage error where there is none. */
export async function resumedFile(
  flags: SessionFlags,
  sessions: SessionFolder,
  cwd: string,
  pick?: PickSession,
): Promise<string | undefined> {
  const { resume } = flags;
  if (resume === true) {
    const found = await sessions.list();
    if (found.length > 0 && !pick)
      throw usageError(
        "--resume without a name asks which one, and there is no terminal; toolcrib sessions list shows them",
      );
    const picked = found[(await pick?.(found.map((one) => sessionChoice(one)))) ?? -1];
    if (picked) return picked.file;
    throw usageError(found.length > 0 ? "--resume: none was picked" : noneYet);
  }
  if (resume !== undefined) return givenSession(resume, sessions, cwd);
  if (!flags.continue) return undefined;
  const [last] = await sessions.list();
  if (last) return last.file;
  throw usageError(`nothing to continue: ${noneYet}`);
}

const noneYet = "there is no conversation in this directory yet";

/** Finds it by number or id, else as a file; with a `/` in it, or with its ending, it can only be a file. */
async function givenSession(resume: string, sessions: SessionFolder, cwd: string): Promise<string> {
  const found = /[/\\]|\.jsonl?$/.test(resume) ? undefined : await sessions.find(resume);
  if (found) return found.file;
  const path = resolve(cwd, resume);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile()) {
    refuseMore(stats.size, `--resume ${resume}`, mostSessionMegabytes);
    return path;
  }
  throw usageError(
    `--resume ${resume}: ${stats ? `it is a ${fileKind(stats)}` : "there is no such file or conversation"}; pass a journal, what save_session_context wrote, or an id or number of toolcrib sessions list`,
  );
}

/** Returns whether a file is where conversations of the user are kept; any other may be somebody else's. */
export function isKeptSession(file: string, sessions: SessionFolder): boolean {
  try {
    return isInside(realpathSync(dirname(sessions.path)), realpathSync(file));
  } catch {
    return false;
  }
}

export async function namedSession(name: string, sessions: SessionFolder): Promise<SessionSummary> {
  const found = await sessions.find(name);
  if (found) return found;
  throw usageError(
    `${printableName(name)}: there is no such conversation of this directory; toolcrib sessions list shows them`,
  );
}

/** Describes a session in one row: when it was last changed, and what it is about. */
export function describeSession(session: SessionSummary): string {
  const time = session.changedAt.toISOString().slice(0, 16).replace("T", " ");
  const about = withoutControls(titleOf(session)).replace(/\s+/g, " ").slice(0, 80);
  return `${time}  ${about || "(empty)"}`;
}

export function sessionChoice(
  session: SessionSummary,
  text: string = describeSession(session),
): { readonly text: string; readonly group: string | undefined } {
  return { text, group: isRun(session.name) ? "Begun by toolcrib run" : undefined };
}

export function titleOf({ name, topic }: SessionSummary): string {
  return titleIn(name) ?? topic;
}

/** Writes a conversation for people to read, without the secrets of the environment. */
export async function exportSession(file: string, form: "html" | "md", env: NodeJS.ProcessEnv): Promise<string> {
  const { readTranscript, sessionToHtml, sessionToMarkdown } = await import("@toolcrib/agent/transcript");
  const secrets = Object.entries(env).flatMap(([name, value = ""]) =>
    value.length >= 8 && isSecret(name, value) ? [value] : [],
  );
  const transcript = await readTranscript(file);
  const named = { ...transcript, name: titleIn(transcript.name) };
  return (form === "html" ? sessionToHtml : sessionToMarkdown)(named, { secrets });
}

/** Makes the folder, for the user alone; returns what went wrong, if anything. */
export function makeSessionFolder(directory: string, folders: Folders): string | undefined {
  try {
    makeStateFolder(folders, "sessions", stateName(directory));
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
