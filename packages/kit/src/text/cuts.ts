import { withNotice } from "@toolcrib/core/text";

/** A long text after a cut: its head and its tail, in whole lines if possible. */
export interface CutMiddle {
  head: string;
  tail: string;
  /** Bytes of both. */
  shown: number;
  /** Bytes of the whole. */
  total: number;
  /** The path of a file that holds the whole, or its first `held`. */
  whole?: string | undefined;
  held?: number | undefined;
  /** The code of the system error that kept such a file from being written. */
  unwritten?: string | undefined;
}

/** Joins head, a line that says how much is left out, tail, blank line, notice. */
export function withMiddleLeftOut({ head, tail, unwritten, ...cut }: CutMiddle): string {
  const why = unwritten === undefined ? "" : `; they could not be written to a file (${unwritten})`;
  const middle = `[… ${cut.total - cut.shown} bytes left out${why} …]`;
  return withNotice(`${withNewline(head)}${middle}\n${tail}`, { ...cut, unit: "bytes" });
}

/** Ends a text with a line break unless it is empty. */
export function withNewline(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/** Returns the last line of a list that does not show denied names: `[left out: 2 denied names]`. */
export function leftOutNotice(count: number): string {
  return `[left out: ${count} denied ${count === 1 ? "name" : "names"}]`;
}

/** The most bytes of a reply that lists things (entries, matches), its closing notice aside: `maxReplyBytes` of the packs. */
export const defaultMaxReplyBytes: number = 50 * 1024;
