import { join } from "node:path";
import { attempt } from "@toolcrib/core/internal";
import { OwnFile } from "@toolcrib/kit/files";
import type { Folders } from "./folders.ts";

const mostLines = 100;
/** Characters of a line that is kept: a paste may be of any length. */
const longestLine = 10_000;

/** The user's input in conversations, in a file that nobody else may read. */
export interface InputHistory {
  /** Reads the lines, the oldest first; none if they cannot be read. */
  read(): Promise<readonly string[]>;
  /** Resolves where it could not be kept, too. */
  add(line: string): Promise<void>;
}

export function inputHistory({ state }: Folders): InputHistory {
  const file = new OwnFile(join(state, "input.jsonl"), {
    what: "the lines typed before",
    maxBytes: 8 * mostLines * longestLine,
  });
  return {
    read: async () => linesOf(await file.read().catch(() => undefined)),
    async add(line) {
      if (line.length > longestLine) return;
      const change = (text: string | undefined): string => {
        const lines = linesOf(text).filter((one) => one !== line);
        return [...lines, line]
          .slice(-mostLines)
          .map((one) => `${JSON.stringify(one)}\n`)
          .join("");
      };
      await file.change(change).catch(() => {});
    },
  };
}

function linesOf(text = ""): string[] {
  return text.split("\n").flatMap((line) => {
    const value: unknown = attempt(() => JSON.parse(line));
    return typeof value === "string" ? [value] : [];
  });
}
