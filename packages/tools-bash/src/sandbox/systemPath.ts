import { realpathSync } from "node:fs";
import { type BytePath, isAscii } from "./bytePath.ts";

/** Converts to the form that `node:fs` takes. Apart from the type of such paths, so that published types do not name Node's. */
export function toSystemPath(path: BytePath): string | Buffer {
  return isAscii(path) ? path : Buffer.from(path, "latin1");
}

/** Returns the canonical path; undefined for a link that leads nowhere, or what is not there. */
export function realBytePath(path: BytePath): BytePath | undefined {
  try {
    return realpathSync.native(toSystemPath(path), { encoding: "latin1" });
  } catch {
    return undefined;
  }
}
