import { constants } from "node:os";
import { isToolError, ToolError } from "@toolcrib/core";
import { isError } from "@toolcrib/core/internal";

/** System error codes in plain words; after the bar, what to do next. */
const plainWords: Readonly<Record<string, string>> = {
  ENOENT: "No such file or directory|check the path",
  ENOTDIR: "The path, or a part of it, is a file, not a directory|check the path",
  EISDIR: "This is a directory, not a file|name a file",
  EEXIST: "It already exists|choose another path",
  ENOTEMPTY: "The directory is not empty|something may have been added meanwhile; try again",
  EACCES: "Permission denied|choose a path this process may use",
  EPERM: "Operation not permitted|choose a path this process may change",
  EROFS: "The filesystem is read-only|choose a path elsewhere",
  ENOSPC: "No space (or no inodes) left on the device|free some, or choose a path elsewhere",
  EDQUOT: "The disk quota is used up|free some space, or choose a path elsewhere",
  EIO: "The device reported an input/output error|try again, or choose a path elsewhere",
  EMFILE: "This process has too many open files|try again shortly",
  ENFILE: "The system has too many open files|try again shortly",
  EXDEV: "The path leads to another device|choose a path on the same device",
  ELOOP: "Symbolic links form a loop, or are too many|name the real path",
  ENAMETOOLONG: "The path or one of its names is too long|use a shorter one",
  EBUSY: "It is in use|try again later",
  ETXTBSY: "It is a program that is running|try again later",
  EFBIG: "The file would be too large|write less",
  EAGAIN: "It has nothing to read at the moment|try again later",
  EINVAL: "The system does not accept this path or operation|check the path",
  ENXIO: "There is no device behind this path|name a regular file",
};

/** Returns the errno name (`ENOENT`) that an error carries, if any. */
export function systemErrorCode(error: unknown): string | undefined {
  if (!isError(error) || !("code" in error) || typeof error.code !== "string") return undefined;
  if (/^E[A-Z0-9]+$/.test(error.code)) return error.code;
  // Node has no name for some, EDQUOT among them: "Unknown system error -122" from a promise, "UNKNOWN" from a call that waits.
  if (!/^(?:UNKNOWN|Unknown system error -\d+)$/.test(error.code)) return undefined;
  const number = "errno" in error ? -Number(error.errno) : Number(error.code.split("-")[1]);
  return Object.entries(constants.errno).find(([, value]) => value === number)?.[0];
}

/** Returns `UNKNOWN` for an error of the system that Node has no name for, as some of Windows. */
function unknownCode(error: unknown): string | undefined {
  return isError(error) && "syscall" in error && "code" in error && error.code === "UNKNOWN" ? "UNKNOWN" : undefined;
}

/** Returns whether `node --permission` refused it. */
export function isForbiddenByNode(error: unknown): boolean {
  return typeof error === "object" && error !== null && "code" in error && error.code === "ERR_ACCESS_DENIED";
}

/**
 * Returns a system error in plain words with its code, naming only `printedPath` (what the caller sent, or its short form):
 * Node's own message would show the host's paths. What is not a system error is returned unchanged.
 */
export function plainSystemError(error: unknown, printedPath: string): unknown {
  if (isToolError(error)) return error;
  const refused = (message: string): ToolError =>
    new ToolError({
      code: "permission_denied",
      message,
      details: { by: "system", path: printedPath },
      cause: error,
    });
  if (isForbiddenByNode(error))
    return refused(
      `Node's permission model does not allow this: ${printedPath} (ERR_ACCESS_DENIED); choose a path that --allow-fs-read and --allow-fs-write name`,
    );
  const code = systemErrorCode(error) ?? unknownCode(error);
  if (code === undefined) return error;
  const [words, next] = (plainWords[code] ?? "The system refused").split("|");
  const message = `${words}: ${printedPath} (${code})${next ? `; ${next}` : ""}`;
  if (code === "EACCES" || code === "EPERM") return refused(message);
  return new ToolError({ code: "execution_failed", message, details: { cause: error }, cause: error });
}
