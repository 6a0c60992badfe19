import { fstatSync, statSync } from "node:fs";
import { ToolError } from "@toolcrib/core";
import type { FilePath } from "@toolcrib/kit/files";

/** Files remembered at most; the one seen longest ago is forgotten first. */
const mostRemembered = 10_000;

/** The files that the tools of one pack have read or written, by the state that each had then. */
export interface SeenFiles {
  /** Remembers the state that a file has now; never throws. */
  note(file: number | FilePath): void;
  /** Throws unless the file is as it was when it was last seen. `printed` is its name in the error. */
  refuseUnseen(file: number | FilePath, printed: string): void;
}

interface State {
  readonly file: string;
  readonly version: string;
}

export function createSeenFiles(): SeenFiles {
  const versions = new Map<string, string>();
  return {
    note(file) {
      try {
        const state = stateOf(file);
        versions.delete(state.file);
        versions.set(state.file, state.version);
        const [oldest] = versions.keys();
        if (versions.size > mostRemembered && oldest !== undefined) versions.delete(oldest);
      } catch {
        // Gone: there is nothing to remember.
      }
    },
    refuseUnseen(file, printed) {
      const state = stateOf(file);
      const seen = versions.get(state.file);
      if (seen === state.version) return;
      const why =
        seen === undefined ? "was not read yet; read it first" : "has changed since it was read; read it again";
      throw new ToolError({ code: "execution_failed", message: `Not written: ${printed} ${why}` });
    },
  };
}

/** Throws the system's error. */
function stateOf(file: number | FilePath): State {
  const stats = typeof file === "number" ? fstatSync(file, { bigint: true }) : statSync(file, { bigint: true });
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  return { file: `${dev}:${ino}`, version: `${size}:${mtimeNs}:${ctimeNs}` };
}
