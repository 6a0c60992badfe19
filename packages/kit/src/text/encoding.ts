import { attempt } from "@toolcrib/core/internal";

const sniffLength = 8192;

/**
 * Returns whether bytes look binary, judged on the first 8 KB: NUL bytes and invalid UTF-8 together, or more than 30 % control
 * bytes. `complete` says that `bytes` is the whole file, so a cut character at its end counts as invalid.
 */
export function isBinary(bytes: Uint8Array, complete: boolean = bytes.length <= sniffLength): boolean {
  const head = bytes.subarray(0, sniffLength);
  if (head.length === 0) return false;
  let control = 0;
  let nul = false;
  // By its place: each file that is read is looked at, and an iterator takes several times as long.
  for (let at = 0; at < head.length; at += 1) {
    const byte = head[at] as number;
    if (byte < 32 && byte !== 9 && byte !== 10 && byte !== 13 && byte !== 12 && byte !== 27 && byte !== 8) {
      control += 1;
      if (byte === 0) nul = true;
    }
  }
  if (control > head.length * 0.3) return true;
  const stream = !complete || head.length < bytes.length;
  return nul && attempt(() => new TextDecoder("utf-8", { fatal: true }).decode(head, { stream })) === undefined;
}

export const byteOrderMark = "\ufeff";
