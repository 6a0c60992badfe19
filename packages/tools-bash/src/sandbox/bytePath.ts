/*
 * A path whose characters are bytes (latin1). Names of files need not be UTF-8, and one that is not could otherwise be neither looked at
 * nor masked.
 */
export type BytePath = string;

export function toBytePath(path: string): BytePath {
  return Buffer.from(path, "utf8").toString("latin1");
}

/** Decodes a path as text, with U+FFFD for what is not UTF-8. */
export function toText(path: BytePath): string {
  return isAscii(path) ? path : Buffer.from(path, "latin1").toString("utf8");
}

/** Returns whether bytes and characters of a path are the same. */
export function isAscii(path: BytePath): boolean {
  return !/[\u0080-\u00ff]/.test(path);
}
