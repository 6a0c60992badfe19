/** The pattern from the start directory on. */
export function deepen(pattern: string, anyDepth: boolean): string {
  if (pattern.startsWith("/")) return pattern.slice(1);
  return anyDepth && !pattern.includes("/") ? `**/${pattern}` : pattern;
}
