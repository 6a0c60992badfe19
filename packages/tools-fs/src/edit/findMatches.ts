export interface Match {
  start: number;
  end: number;
}

/** Only so many characters are sought with `indexOf`, whose cost can grow with the product of both lengths. */
const longestAnchor = 64;
/** Characters that are searched at once. */
const windowLength = 256 * 1024;

/**
 * Yields every match of `wanted`, with LF or CRLF; overlapping ones only if asked for. Yields undefined where a place did not match or
 * a part of the text was searched, so that the caller can pause.
 */
export function* findMatches(text: string, wanted: string, overlapping: boolean): Generator<Match | undefined> {
  const plain = wanted.replaceAll("\r\n", "\n");
  const firstBreak = plain.indexOf("\n");
  // A text that starts with a line break is found by that break.
  const anchor = plain.slice(0, Math.min(firstBreak < 0 ? plain.length : Math.max(firstBreak, 1), longestAnchor));
  for (let from = 0; from < text.length; ) {
    const part = text.slice(from, from + windowLength + anchor.length - 1);
    const found = part.indexOf(anchor);
    if (found < 0) {
      from += windowLength;
      yield undefined;
      continue;
    }
    const at = from + found;
    const start = anchor === "\n" && text[at - 1] === "\r" ? at - 1 : at;
    const end = matchAt(text, start, plain);
    from = end !== undefined && !overlapping ? Math.max(end, at + 1) : at + 1;
    yield end === undefined ? undefined : { start, end };
  }
}

/** Returns where `wanted`, whose line breaks are LF, ends if it starts at `start`. */
function matchAt(text: string, start: number, wanted: string): number | undefined {
  let at = start;
  for (let from = 0; ; ) {
    const lineBreak = wanted.indexOf("\n", from);
    const line = wanted.slice(from, lineBreak < 0 ? wanted.length : lineBreak);
    if (!text.startsWith(line, at)) return undefined;
    at += line.length;
    if (lineBreak < 0) return at;
    if (text.startsWith("\r\n", at)) at += 2;
    else if (text[at] === "\n") at += 1;
    else return undefined;
    from = lineBreak + 1;
  }
}
