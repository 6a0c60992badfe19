import { isAbsolute } from "node:path";
import { isObject, messageOf } from "@toolcrib/core/text";
import { OwnFile } from "@toolcrib/kit/files";

/** A yes that was given for good: to exactly one thing, in one folder, by one tool. */
export interface RememberedAnswer {
  /** Digest of all that it holds for: the folders, the tool as it was, and exactly what the call does. */
  readonly id: string;
  readonly tool: string;
  readonly origin: string;
  /** The roots of the policy that it was given to. */
  readonly folders: readonly string[];
  /** The calls that it allows, in one line for people. */
  readonly text: string;
  /** The time of the answer, as an ISO date. */
  readonly at: string;
}

/** A store of remembered answers. Only the user may be able to write there. */
export interface RememberedStore {
  load(): Promise<readonly RememberedAnswer[]>;
  /** Replaces the answers at once, with no other change in between. */
  change(change: (answers: readonly RememberedAnswer[]) => readonly RememberedAnswer[]): Promise<void>;
}

/** The oldest give way to more. */
export const mostAnswers = 1000;

/** Makes a store for as long as the process runs. */
export function memoryStore(): RememberedStore {
  let kept: readonly RememberedAnswer[] = [];
  return {
    load: async () => kept,
    async change(change) {
      kept = change(kept).slice(-mostAnswers);
    },
  };
}

export interface FileStoreOptions {
  /** Called with a sentence when what the file holds cannot be used; it counts as empty then. */
  onWarning?: ((message: string) => void) | undefined;
}

/** A store with the path of its file, which a policy refuses below its roots. */
export interface RememberedFile extends RememberedStore {
  readonly path: string;
}

const maxBytes = 4 * 1024 * 1024;

/**
 * Keeps remembered answers in one JSON file that only the user can read; processes that change it wait for each other. A file that is
 * damaged counts as empty. One that somebody else may have written (a link, another owner, writable by others) counts as empty too,
 * and is not written. Throws a TypeError unless the path is absolute: a relative one would lie in the folder that agents work in.
 */
export function fileStore(path: string, { onWarning }: FileStoreOptions = {}): RememberedFile {
  if (typeof path !== "string" || !isAbsolute(path) || path.includes("\0")) {
    throw new TypeError("fileStore: the path must be absolute, and outside the folders that agents work in");
  }
  const file = new OwnFile(path, { what: "the remembered answers", maxBytes });
  const parse = (text: string | undefined): readonly RememberedAnswer[] => {
    const answers = text === undefined ? [] : answersIn(text);
    if (answers) return answers;
    onWarning?.(`${path} does not contain remembered answers, so none count; the next answer replaces it`);
    return [];
  };
  return {
    path,
    async load() {
      try {
        return parse(await file.read());
      } catch (error) {
        onWarning?.(`remembered answers do not count: ${messageOf(error)}`);
        return [];
      }
    },
    change: (change) =>
      file.change((text) => `${JSON.stringify({ answers: change(parse(text)).slice(-mostAnswers) }, undefined, 2)}\n`),
  };
}

/** Returns the answers; undefined if the text is damaged. */
function answersIn(text: string): readonly RememberedAnswer[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const answers = isObject(value) ? value.answers : undefined;
    return Array.isArray(answers) && answers.every(isAnswer) ? answers : undefined;
  } catch {
    return undefined;
  }
}

function isAnswer(value: unknown): value is RememberedAnswer {
  const isText = (one: unknown): boolean => typeof one === "string";
  if (!isObject(value) || !Array.isArray(value.folders) || !value.folders.every(isText)) return false;
  return [value.id, value.tool, value.origin, value.text, value.at].every(isText);
}
