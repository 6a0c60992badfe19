import { printableName } from "./printable.ts";

/** The extent of a cut, for `truncationNotice`. */
export interface Truncation {
  shown: number;
  /** The whole, where it is known without extra work. */
  total?: number | undefined;
  /** Plural noun: `lines`, `entries`, `matches`, `bytes`. */
  unit: string;
  /** The argument that continues, where there is one. */
  next?: { argument: string; value: number | string } | undefined;
  /** The path of a file that holds the whole, or its first `held`. */
  whole?: string | undefined;
  held?: number | undefined;
}

/**
 * Words a cut by the one grammar of every pack: `[truncated: shown X of Y UNIT; pass ARG=N to continue]`. Without a
 * total: `[truncated: shown X UNIT, there is more; pass …]`. Where a file holds the whole: `…; all of it is in PATH]`, or what comes
 * first: `…; the first N are in PATH]`.
 */
export function truncationNotice({ shown, total, unit, next, whole, held }: Truncation): string {
  const amount = total === undefined ? `shown ${shown} ${unit}, there is more` : `shown ${shown} of ${total} ${unit}`;
  const more = next ? `; pass ${next.argument}=${next.value} to continue` : "";
  return `[truncated: ${amount}${more}${whole === undefined ? "" : `${held === undefined ? wholeIn : `; the first ${held} are in `}${printableName(whole)}`}]`;
}

const wholeIn = "; all of it is in ";

/** Joins body, blank line and notice. */
export function withNotice(body: string, truncation: Truncation): string {
  return `${body}${body.endsWith("\n") ? "" : "\n"}\n${truncationNotice(truncation)}`;
}

/** Returns the longest head of `text` within `limit` bytes of UTF-8 that does not split a character. */
export function cutBytes(text: string, limit: number): string {
  if (text.length * 3 <= limit) return text;
  const bytes = Buffer.from(text);
  return bytes.length <= limit ? text : wholeCharacters(bytes.subarray(0, limit));
}

/** Returns the whole characters at the head of a cut text. */
function wholeCharacters(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: true });
}

/** Room for a path of any length; any other notice is shorter. */
const longestNotice = 5000;
const closingNotice =
  /\n\n\[truncated: (?:shown \d+ of (\d+) bytes; all of it is in (.{1,4200})|[^\n]{1,1000})\](?:\n\[left out: [^\]\n]{1,60}\])?\n?$/;

/** The part of a text that a limit counts: all but a notice at its end, of which only a file with the whole still matters. */
interface Counted {
  readonly body: string;
  /** Bytes of `body`. */
  readonly total: number;
  /** The file in which an earlier cut keeps the whole. */
  readonly kept?: { readonly total: number; readonly whole: string };
}

/** Returns undefined where the text is within `limit` bytes of UTF-8. */
export function beyondLimit(text: string, limit: number): Counted | undefined {
  // A UTF-16 unit is at most three bytes, so a short text need not be measured.
  if (text.length * 3 <= limit) return undefined;
  const [notice = "", bytes, whole] = closingNotice.exec(text.slice(-longestNotice)) ?? [];
  const body = text.slice(0, text.length - notice.length);
  const total = Buffer.byteLength(body);
  if (total <= limit) return undefined;
  return { body, total, ...(whole !== undefined && { kept: { total: Number(bytes), whole } }) };
}

/**
 * Returns `text` within `limit` bytes of UTF-8, a notice at its end not counted; else whole lines of its head (part of one where whole
 * ones would fill less than half) and a notice.
 */
export function limitBytes(text: string, limit: number): string {
  const { body, total, kept } = beyondLimit(text, limit) ?? {};
  if (body === undefined) return text;
  const head = headWithin(body, limit);
  return withNotice(head, { shown: Buffer.byteLength(head), total, unit: "bytes", ...kept });
}

/** Returns the head and the tail of `text` within `limit` bytes together: whole lines, as `limitBytes` has them. */
export function headAndTail(text: string, limit: number): { head: string; tail: string } {
  return { head: headWithin(text, Math.ceil(limit / 2)), tail: tailWithin(text, Math.floor(limit / 2)) };
}

function headWithin(text: string, limit: number): string {
  // A UTF-16 unit is at least one byte. Decoded anew, as a slice would keep the whole text in memory.
  const head = wholeCharacters(Buffer.from(text.slice(0, limit)).subarray(0, limit));
  const lines = head.lastIndexOf("\n") + 1;
  return lines >= head.length / 2 ? head.slice(0, lines) : head;
}

function tailWithin(text: string, limit: number): string {
  if (limit === 0) return "";
  const bytes = Buffer.from(text.slice(-limit)).subarray(-limit);
  // The rest of a character that was cut has at most three bytes.
  let cut = 0;
  while (cut < 3 && ((bytes[cut] ?? 0) & 0xc0) === 0x80) cut += 1;
  const tail = bytes.toString("utf8", cut);
  const start = tail.indexOf("\n") + 1;
  return tail.length - start >= tail.length / 2 ? tail.slice(start) : tail;
}
