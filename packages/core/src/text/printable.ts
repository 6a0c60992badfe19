import { attempt } from "../callSafely.ts";
import { clip } from "../json.ts";

// C0, DEL, C1, the line and paragraph separators, and what changes the direction of text.
const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/gu;
const allButLayout =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/gu;
// Also what takes no room or looks like a space. U+2800 is an empty Braille cell.
const invisible = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Returns a file name as a tool prints it: a JSON string where it holds control characters (or a lone surrogate), else as it is. */
export function printableName(name: string): string {
  return name.search(controlCharacters) < 0
    ? name
    : JSON.stringify(name).replace(controlCharacters, (character) => {
        return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
      });
}

const longestName = 200;

/** Returns a name as a message shows it, whatever it is: cut first, so that a long one costs nothing, then printed on one line. */
export function shownName(name: unknown): string {
  return printableName(clip(attempt(() => String(name)) ?? `a name of type ${typeof name}`, longestName));
}

/**
 * Returns text on one line, at most `limit` characters of it, without needless space and control characters: what a model or a file says
 * must not steer a terminal.
 */
export function oneLine(text: string, limit: number = Infinity): string {
  return clip(withoutControls(clip(text, 4 * limit).replace(/\s+/g, " ")).trim(), limit);
}

/** Returns at most `limit` characters of a text from elsewhere, in which each can be seen. */
export function showLine(text: string, limit = 1000): string {
  return clip(showInvisible(text), limit);
}

/** Returns text in which every character can be seen: line breaks of all kinds become `\n`, tabs stay. */
export function showLines(text: string): string {
  const lines = text.split(/\r\n|[\r\n\u2028\u2029]/);
  return lines.map((line) => line.split("\t").map(showInvisible).join("\t")).join("\n");
}

/** Returns text for a terminal: line breaks and tabs stay, every other control character goes. */
export function withoutControls(text: string): string {
  return text.replace(allButLayout, "");
}

/** Returns one line in which every character but a plain space can be seen: others without a shape are written as `<U+200B>`. */
export function showInvisible(text: string): string {
  return text.replace(invisible, (character) => {
    return `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`;
  });
}
