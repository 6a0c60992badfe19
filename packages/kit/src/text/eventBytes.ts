const newline = 0x0a;
const carriageReturn = 0x0d;

/**
 * Counts the bytes of the events of a stream (`text/event-stream`), which an empty line ends. The function takes the next bytes of the
 * stream, and returns how many the event at their end has so far.
 */
export function createEventCounter(): (chunk: Uint8Array) => number {
  let event = 0;
  let line = 0;
  let last: number | undefined;
  return (chunk) => {
    event += chunk.length;
    let from = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      const length = line + at - from;
      if (length === 0 || (length === 1 && (at > 0 ? chunk[at - 1] : last) === carriageReturn))
        event = chunk.length - at - 1;
      line = 0;
      from = at + 1;
    }
    line += chunk.length - from;
    last = chunk.at(-1);
    return event;
  };
}
