import { parseJson as parse } from "@toolcrib/kit/text";
import { usageError } from "../exitReasons.ts";

/** Parses `text`; throws a usage error that shows where it stops being JSON. `what` begins the sentence. */
export function parseJson(text: string, what: string): unknown {
  return parse(text, what, usageError);
}
