import { renameSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { ToolError } from "@toolcrib/core";
import type { FilePath } from "./changeAttributes.ts";
import { systemErrorCode } from "./systemErrors.ts";

/** Milliseconds between the tries: about a second in all, as a virus scanner or an indexer holds a new file for less. */
const pausesMs = [10, 20, 40, 80, 160, 300, 400];

/** Lists the errors of Windows while a program has one of the two files open. */
const openElsewhere = ["EPERM", "EACCES", "EBUSY"];

export interface RenameOptions {
  /** Called before each later try, as much may have changed meanwhile; what it throws ends the tries. */
  check?: () => void;
  /** The others are for tests. */
  rename?: (from: FilePath, to: FilePath) => void;
  pause?: (ms: number) => Promise<unknown>;
  isWindows?: boolean;
}

/**
 * Renames an entry, over a file that is there too. Windows refuses that while another program has a file open, so there it is tried
 * again for about a second; then it throws a ToolError that says so of `printed`. Elsewhere it throws the system's error at once.
 */
export async function renameRetrying(
  from: FilePath,
  to: FilePath,
  printed: string,
  { check, rename = renameSync, pause = sleep, isWindows = process.platform === "win32" }: RenameOptions = {},
): Promise<void> {
  for (const pauseMs of [...pausesMs, undefined]) {
    try {
      rename(from, to);
      return;
    } catch (cause) {
      const code = systemErrorCode(cause);
      if (!isWindows || code === undefined || !openElsewhere.includes(code)) throw cause;
      if (pauseMs === undefined) {
        const message = `Not changed, because another program has it open or it must not be changed: ${printed} (${code}); close it there, or try again later`;
        throw new ToolError({ code: "execution_failed", message, cause });
      }
      await pause(pauseMs);
      check?.();
    }
  }
}
