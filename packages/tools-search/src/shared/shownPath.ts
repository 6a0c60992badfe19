const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/gu;

/**
 * A path as it is printed. A copy of core's `printableName` (a test compares them): in tests the thread runs from the sources, where
 * other packages are found only once they are built.
 */
export function shownPath(path: string): string {
  if (path.search(controlCharacters) < 0) return path;
  return JSON.stringify(path).replace(controlCharacters, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
