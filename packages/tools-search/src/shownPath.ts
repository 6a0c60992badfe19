const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff]/u;

/** A path as it is printed: a JSON string where it holds control characters. (Workers load nothing of other packages.) */
export function shownPath(path: string): string {
  return controlCharacters.test(path) ? JSON.stringify(path) : path;
}
