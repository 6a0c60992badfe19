import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { isObject } from "@toolcrib/core/text";
import { ownFile } from "@toolcrib/kit/files";

/** The user's answer about a file of a folder; `changed`: about an earlier form of it. */
export type Trust = "trusted" | "refused" | "changed" | "new";

/** The user's answers about files that a folder brings along, which may be a stranger's. A yes holds for that folder and content. */
export interface FolderTrust {
  of(text: string): Promise<Trust>;
  /** Resolves to true if the last answer was a yes, to whatever content. */
  wasTrusted(): Promise<boolean>;
  /** Keeps a yes or a no to this content; undefined forgets the folder. */
  save(text: string, isTrusted: boolean | undefined): Promise<void>;
}

/**
 * Opens the answers for one folder, links followed. They are kept in the file at `path`, which must lie outside of the folder, and
 * is trusted only where nobody but the user can write it: the methods reject otherwise.
 */
export function folderTrust(path: string, folder: string): FolderTrust {
  const file = ownFile(path, { what: "the projects that you trust" });
  const place = realpathSync(folder);
  return {
    async of(text) {
      const known = parse(await file.read()).get(place);
      if (!isObject(known)) return "new";
      if (known.digest !== digestOf(text)) return "changed";
      return known.isTrusted === true ? "trusted" : "refused";
    },
    async wasTrusted() {
      const known = parse(await file.read()).get(place);
      return isObject(known) && known.isTrusted === true;
    },
    save: (text, isTrusted) =>
      file.change((found) => {
        const answers = parse(found);
        if (isTrusted === undefined) answers.delete(place);
        else answers.set(place, { digest: digestOf(text), isTrusted });
        return `${JSON.stringify(Object.fromEntries(answers), null, 2)}\n`;
      }),
  };
}

/** Parses the file. If it cannot be read, nothing is trusted. */
function parse(text = "{}"): Map<string, unknown> {
  try {
    const known: unknown = JSON.parse(text);
    return new Map(isObject(known) ? Object.entries(known) : []);
  } catch {
    return new Map();
  }
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
