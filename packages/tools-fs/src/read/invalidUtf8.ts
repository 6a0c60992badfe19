import { isUtf8 } from "node:buffer";

/** Counts the bytes that are no part of a character in UTF-8 (RFC 3629). */
export function countInvalidUtf8(bytes: Buffer): number {
  if (isUtf8(bytes)) return 0;
  const text = bytes.toString("utf8");
  // What is invalid is U+FFFD there, of three bytes; those that the bytes have themselves are valid.
  const replaced = text.split("\ufffd").length - bytes.toString("latin1").split("\xef\xbf\xbd").length;
  return bytes.length - (Buffer.byteLength(text) - 3 * replaced);
}
