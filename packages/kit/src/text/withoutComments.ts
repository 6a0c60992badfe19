const stringOrComment = /"(?:[^"\\\r\n]|\\.)*"|\/\/[^\r\n]*|\/\*[\s\S]*?\*\//g;

/**
 * JSON with comments as JSON: comments become blanks, so that positions stay the same. A slash that begins none, and a comment that never
 * ends, stay, so that a parser refuses them.
 */
export function withoutComments(text: string): string {
  return text.replace(stringOrComment, (found) => (found.startsWith('"') ? found : found.replace(/[^\r\n]/g, " ")));
}
