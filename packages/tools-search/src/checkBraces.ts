import { invalid } from "./searchReply.ts";

/**
 * Throws for a glob with a brace that is never closed: the library would take it for a character of the name, which nobody
 * means who writes `*.{md,json`.
 */
export function checkBraces(argument: string, glob: string): void {
  let open = 0;
  // An escape, a set, a brace.
  for (const [part] of glob.matchAll(/\\[\s\S]|\[(?:\\[\s\S]|[^\]\\/])+\]|[{}]/g)) {
    if (part === "{") open += 1;
    else if (part === "}" && open > 0) open -= 1;
  }
  if (open > 0) throw invalid(argument, "a { is never closed; write {a,b}, or \\{ for the character itself");
}
