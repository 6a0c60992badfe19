import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "@toolcrib/core/internal";
import { isObject, messageOf } from "@toolcrib/core/text";
import { OwnFile, systemErrorCode, type TrustAnswer, type TrustStore, trustStore } from "@toolcrib/kit/files";
import type { Folders } from "./folders.ts";
import { makeStateFolder } from "./stateFolder.ts";

/**
 * Opens the user's answers about projects, skills and servers. Nothing is read or made before it is used. `tell` gets what is wrong with
 * the file, once; then nothing is trusted.
 */
export function ownTrust(folders: Folders, tell: (line: string) => void): TrustStore {
  let opened: Promise<TrustStore> | undefined;
  const store = (): Promise<TrustStore> => (opened ??= open(folders, tell));
  return {
    of: async (...asked) => (await store()).of(...asked),
    wasTrusted: async (...asked) => (await store()).wasTrusted(...asked),
    save: async (...answer) => (await store()).save(...answer),
    adopt: async (answers) => (await store()).adopt(answers),
  };
}

async function open(folders: Folders, tell: (line: string) => void): Promise<TrustStore> {
  try {
    makeStateFolder(folders);
  } catch (error) {
    // Where no folder can be made, nothing was kept.
    if (!systemErrorCode(error)) tell(`Nothing is trusted: ${messageOf(error)}`);
    const fail = (): Promise<never> => Promise.reject(error);
    return { of: async () => "new", wasTrusted: async () => false, save: fail, adopt: fail };
  }
  const path = join(folders.state, "trust.json");
  const store = trustStore(path, { onProblem: tell });
  const old = await readOldFiles(folders.state, tell);
  if (old.size === 0) return store;
  const answers = [...old.values()].flat();
  try {
    await store.adopt(answers);
    for (const file of old.keys()) rmSync(file, { force: true });
  } catch (error) {
    // A file that is broken says so itself when it is read; where nothing can be written, the old answers count as they lie.
    if (systemErrorCode(error)) return trustStore(path, { onProblem: tell, more: answers });
  }
  return store;
}

type Content = Readonly<Record<string, unknown>>;

/** Reads the answers of earlier versions, which had a file for each kind, by the file. One that cannot be read is told, and stays. */
async function readOldFiles(state: string, tell: (line: string) => void): Promise<Map<string, TrustAnswer[]>> {
  const consents = attempt(() => readdirSync(join(state, "consents"))) ?? [];
  const files: readonly (readonly [string, (content: Content) => TrustAnswer[]])[] = [
    ["trusted.json", answersAbout("project")],
    ["trusted-skills.json", answersAbout("skills")],
    ...consents.filter((name) => name.endsWith(".json")).map((name) => [join("consents", name), consentsIn] as const),
  ];
  const found = new Map<string, TrustAnswer[]>();
  for (const [name, answersIn] of files) {
    const path = join(state, name);
    try {
      const text = await new OwnFile(path, { what: `what you trusted before (${path})` }).read();
      if (text !== undefined) found.set(path, answersIn(contentOf(text, path)));
    } catch (error) {
      tell(messageOf(error));
    }
  }
  return found;
}

function contentOf(text: string, path: string): Content {
  const content = attempt(() => JSON.parse(text));
  if (isObject(content)) return content;
  throw new Error(
    `${path}, in which an earlier version stored what you trust, is not valid JSON; correct or remove it`,
  );
}

/** `{ FOLDER: { digest, isTrusted } }` */
function answersAbout(kind: string): (content: Content) => TrustAnswer[] {
  return (content) =>
    Object.entries(content).flatMap(([path, answer]) => {
      const { digest, isTrusted } = isObject(answer) ? answer : {};
      return typeof digest === "string" ? [{ kind, path, digest, isTrusted: isTrusted === true }] : [];
    });
}

/** `{ directory, servers: { NAME: digest } }` */
function consentsIn({ directory, servers }: Content): TrustAnswer[] {
  if (typeof directory !== "string" || !isObject(servers)) return [];
  return Object.entries(servers).flatMap(([name, digest]) =>
    typeof digest === "string" ? [{ kind: `server ${name}`, path: directory, digest, isTrusted: true }] : [],
  );
}
