import { clip, showInvisible } from "@toolcrib/core/text";

/** Characters of each side that are quoted. */
const longestQuote = 40;

/** Where the first difference of two lines is, and what each has there, white space by name. Undefined where they are the same. */
export function describeDifference(wanted: string, found: string, whose = "old_text"): string | undefined {
  if (wanted === found) return undefined;
  let at = 0;
  while (at < wanted.length && wanted[at] === found[at]) at += 1;
  // A run of white space is counted whole.
  while (at > 0 && isSpace(wanted[at - 1]) && (isSpace(wanted[at]) || isSpace(found[at]))) at -= 1;
  const [left, right] = [wanted.slice(at), found.slice(at)];
  const spaces: [string, string] = [/^\s*/.exec(left)?.[0] ?? "", /^\s*/.exec(right)?.[0] ?? ""];
  const bySpace = spaces[0] !== spaces[1];
  const [ours, theirs] = bySpace
    ? [nameSpace(spaces[0]), nameSpace(spaces[1])]
    : [quoteHead(left, right), quoteHead(right, left)];
  return `at column ${at + 1} ${whose} has ${ours}, the file has ${theirs}`;
}

function isSpace(character: string | undefined): boolean {
  return character !== undefined && /\s/.test(character);
}

/** What of a text differs from the other, as far as that ends alike. */
function quoteHead(text: string, other: string): string {
  let end = 0;
  const most = Math.min(text.length, other.length);
  while (end < most && text[text.length - 1 - end] === other[other.length - 1 - end]) end += 1;
  const different = text.slice(0, text.length - end);
  return different === "" ? "nothing" : JSON.stringify(showInvisible(clip(different, longestQuote)));
}

const names: Readonly<Record<string, string>> = {
  " ": "space",
  "\t": "tab",
  "\r": "carriage return",
  "\u00a0": "no-break space (U+00A0)",
};

/** `2 tabs and 3 spaces`. */
function nameSpace(text: string): string {
  const runs = text.match(/(\s)\1*/g) ?? [];
  if (runs.length === 0) return "no white space";
  const words = runs.slice(0, 4).map((run) => {
    const character = run[0] as string;
    const name = names[character] ?? showInvisible(character);
    // `2 no-break spaces (U+00A0)`
    return run.length === 1 ? `1 ${name}` : `${run.length} ${name.replace(/(?=( \(U.*)?$)/, "s")}`;
  });
  return `${words.join(" and ")}${runs.length > 4 ? " and more" : ""}`;
}
