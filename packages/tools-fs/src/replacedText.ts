import { readSync } from "node:fs";
import { openRegularFile, type PathScope } from "@toolcrib/kit/files";
import { byteOrderMark } from "@toolcrib/kit/text";
import { countInvalidUtf8 } from "./read/invalidUtf8.ts";

/** Bytes at the beginning of a file that are looked at. */
const lookedAt = 64 * 1024;

/** Says what of an existing file's form new text does not have: its line ends, its byte order mark, its encoding. "" where all is the same. */
export function lostForm(path: string, content: string, scope: PathScope): string {
  const head = headOf(path, scope);
  const old = head.toString("latin1");
  const lost: string[] = [];
  // Three bytes may belong to a character that is cut.
  if (countInvalidUtf8(head) > (head.length < lookedAt ? 0 : 3))
    lost.push("the old file was not valid UTF-8, and is UTF-8 now");
  if (old.startsWith("\u00ef\u00bb\u00bf") && !content.startsWith(byteOrderMark))
    lost.push("the old file began with a byte order mark, and does not now");
  if (/\r\n/.test(old) && !/(?<!\r)\n/.test(old) && /(?<!\r)\n/.test(content))
    lost.push("the old file had CRLF line ends, and has LF now");
  return lost.map((words) => `; ${words}`).join("");
}

/** Empty where the file is not there or cannot be read: the write says so. */
function headOf(path: string, scope: PathScope): Buffer {
  try {
    const file = openRegularFile(path, scope);
    try {
      const bytes = Buffer.allocUnsafe(Math.min(lookedAt, file.stats.size));
      return bytes.subarray(0, readSync(file.descriptor, bytes, 0, bytes.length, 0));
    } finally {
      file.close();
    }
  } catch {
    return Buffer.alloc(0);
  }
}
