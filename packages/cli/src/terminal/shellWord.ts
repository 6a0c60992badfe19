/** Writes a word of a command that the user may copy: it may come from a file of somebody else. */
export function shellWord(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
