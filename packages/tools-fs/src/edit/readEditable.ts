import { readFileSync } from "node:fs";
import { ToolError } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import { openRegularFile, type PathScope, plainSystemError } from "@toolcrib/kit/files";
import { byteOrderMark } from "@toolcrib/kit/text";

/** Both texts are in memory at once, so a larger file is refused, and an edit that would make it larger. */
export const longestEditable: number = 32 * 1024 * 1024;

/**
 * Returns the text of a file that is to be edited, with its byte order mark. Throws in plain words for one that is too large or not valid
 * UTF-8. `check` may throw for the open file.
 */
export function readEditable(canonical: string, scope: PathScope, check?: (descriptor: number) => void): string {
  const printed = scope.print(canonical);
  const refuse = (why: string): ToolError =>
    new ToolError({ code: "execution_failed", message: `Not edited: ${printed} ${why}` });
  const file = openRegularFile(canonical, scope);
  try {
    check?.(file.descriptor);
    if (file.stats.size > longestEditable) throw refuse(`is larger than ${longestEditable} bytes; split it first`);
    const bytes = readFileSync(file.descriptor);
    const text = attempt(() => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
    if (text === undefined)
      throw refuse("is not valid UTF-8, so an edit would change other bytes too; convert it first");
    return text;
  } catch (error) {
    throw plainSystemError(error, printed);
  } finally {
    file.close();
  }
}

/** Returns the text changed, but for its byte order mark; `most` is how many bytes there may be behind that. */
export async function keepByteOrderMark(
  text: string,
  change: (rest: string, most: number) => Promise<string>,
): Promise<string> {
  const mark = text.startsWith(byteOrderMark) ? byteOrderMark : "";
  return mark + (await change(text.slice(mark.length), longestEditable - Buffer.byteLength(mark)));
}
