import type { JsonSchema } from "@toolcrib/core";
import { messageOf } from "@toolcrib/core/text";

/** Parses `text`; throws what `toError` makes of a sentence that begins with `what` and shows where the text stops being JSON. */
export function parseJson(text: string, what: string, toError: (message: string) => Error): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const at = firstError(text);
    if (at >= text.trimEnd().length) throw toError(`${what} is not valid JSON: it ends too early, after ${tail(text)}`);
    const wrong = JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0));
    const after = at === 0 ? "" : `, after ${tail(text.slice(0, at))}`;
    throw toError(`${what} is not valid JSON: unexpected ${wrong} at character ${at + 1}${after}`);
  }
}

/** Returns the index of the first character that makes the text invalid; its length where it is only incomplete. */
function firstError(text: string): number {
  let [low, high] = [0, text.length];
  if (isBeginningOfJson(text)) return text.length;
  // The first `low` characters can begin a JSON text, the first `high` cannot.
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (isBeginningOfJson(text.slice(0, middle))) low = middle;
    else high = middle;
  }
  return low;
}

function isBeginningOfJson(beginning: string): boolean {
  try {
    JSON.parse(beginning);
    return true;
  } catch (error) {
    const message = messageOf(error);
    // At the end: a message that quotes the text ends otherwise.
    const position = /at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message)?.[1];
    return position === undefined ? message.startsWith("Unexpected end of JSON") : Number(position) >= beginning.length;
  }
}

function tail(text: string): string {
  const line = text.trimEnd().replace(/\s+/g, " ");
  // Not from the second half of a character on.
  return line.length <= 40 ? line : `…${line.slice(-40).replace(/^[\udc00-\udfff]/, "")}`;
}

const stringOrComment = /"(?:[^"\\\r\n]|\\.)*"|\/\/[^\r\n]*|\/\*[\s\S]*?\*\//g;

/**
 * Turns JSON with comments into JSON: comments become blanks, so that positions stay the same. A slash that begins none, and a
 * comment that never ends, stay, so that a parser refuses them.
 */
export function withoutComments(text: string): string {
  return text.replace(stringOrComment, (found) => (found.startsWith('"') ? found : found.replace(/[^\r\n]/g, " ")));
}

/** Returns the schema of an object that holds nothing else. A property whose name ends in `?` may be absent. */
export function objectSchema(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const names = Object.keys(properties);
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name.replace(/\?$/, ""), properties[name]])),
    required: names.filter((name) => !name.endsWith("?")),
    additionalProperties: false,
  };
}
