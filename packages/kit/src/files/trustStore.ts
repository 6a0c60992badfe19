import { isObject, messageOf } from "@toolcrib/core/text";
import { OwnFile } from "./ownFile.ts";

/** The user's last answer: to this digest, or `changed`: to another one. */
export type Trust = "trusted" | "refused" | "changed" | "new";

/** An answer of the user about what lies at a path: a yes or a no to one digest. */
export interface TrustAnswer {
  /** The kind of thing that is trusted there: "project", "skills". */
  readonly kind: string;
  readonly path: string;
  readonly digest: string;
  readonly isTrusted: boolean;
}

/** The user's answers about what others have written: what a folder brings along, the servers that it names. */
export interface TrustStore {
  of(kind: string, path: string, digest: string): Promise<Trust>;
  /** Resolves to true if the last answer was a yes, to whatever digest. */
  wasTrusted(kind: string, path: string): Promise<boolean>;
  /** Keeps an answer; without a digest what is kept of that kind and path is forgotten. Rejects where it cannot be kept. */
  save(kind: string, path: string, digest?: string, isTrusted?: boolean): Promise<void>;
  /** Keeps those of some answers that are about what nothing is kept of yet. */
  adopt(answers: readonly TrustAnswer[]): Promise<void>;
}

export interface TrustStoreOptions {
  /** Told once why the file cannot be used. Nothing is trusted then, and the file stays as it is. */
  onProblem?: ((message: string) => void) | undefined;
  /** Answers that count where the file has none. */
  more?: readonly TrustAnswer[] | undefined;
}

type Answers = Record<string, Record<string, unknown>>;

/**
 * Keeps answers in one JSON file, which must lie where no folder that is asked about can hold it. It counts only where nobody but the
 * user can write it.
 */
export function trustStore(path: string, { onProblem, more = [] }: TrustStoreOptions = {}): TrustStore {
  const file = new OwnFile(path, { what: "the projects, skills and servers that you trust" });
  let isTold = false;
  const read = async (): Promise<Answers> => {
    try {
      return parse(await file.read(), path);
    } catch (error) {
      if (!isTold) onProblem?.(messageOf(error));
      isTold = true;
      return {};
    }
  };
  const answer = async (kind: string, place: string): Promise<{ digest?: unknown; isTrusted?: unknown } | undefined> =>
    answerIn(await read(), kind, place) ?? more.find((one) => one.kind === kind && one.path === place);
  const change = (edit: (answers: Answers) => void): Promise<void> =>
    file.change((text) => {
      const answers = parse(text, path);
      edit(answers);
      return `${JSON.stringify({ version, answers }, null, 2)}\n`;
    });
  return {
    async of(kind, place, digest) {
      const known = await answer(kind, place);
      if (!known) return "new";
      if (known.digest !== digest) return "changed";
      return known.isTrusted === true ? "trusted" : "refused";
    },
    wasTrusted: async (kind, place) => (await answer(kind, place))?.isTrusted === true,
    save: (kind, place, digest, isTrusted = true) =>
      change((answers) => {
        if (digest !== undefined) put(answers, { kind, path: place, digest, isTrusted });
        else if (answerIn(answers, kind, place)) delete answers[kind]?.[place];
      }),
    adopt: (others) =>
      change((answers) => {
        for (const one of others) if (!answerIn(answers, one.kind, one.path)) put(answers, one);
      }),
  };
}

const version = 1;

function answerIn(answers: Answers, kind: string, place: string): Record<string, unknown> | undefined {
  const ofKind = Object.hasOwn(answers, kind) ? answers[kind] : undefined;
  const known = ofKind && Object.hasOwn(ofKind, place) ? ofKind[place] : undefined;
  return isObject(known) ? known : undefined;
}

function put(answers: Answers, { kind, path, digest, isTrusted }: TrustAnswer): void {
  answers[kind] ??= {};
  answers[kind][path] = { digest, isTrusted };
}

/** Reads the answers. Throws for a file that holds something else: it is never written over. */
function parse(text: string | undefined, path: string): Answers {
  if (text === undefined) return {};
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    found = undefined;
  }
  const answers = isObject(found) && found.version === version ? found.answers : undefined;
  if (isObject(answers) && Object.values(answers).every(isObject)) return answers as Answers;
  throw new Error(
    `${path}, which stores what you trust, cannot be read${isObject(found) && "version" in found ? " by this version" : ""}, so nothing in it counts; correct it, or move it away to be asked again`,
  );
}
