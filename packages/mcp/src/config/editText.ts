import { byteOrderMark, withoutComments } from "@toolcrib/kit/text";
import { applyEdits, findNodeAtLocation, type Node, parseTree } from "jsonc-parser";

/**
 * Returns JSON with comments with one value set; the rest stays as it is written: comments, order, indentation. A value that is added has
 * lines of its own if `inLines`.
 */
export function withValue(text: string, path: readonly string[], value: unknown, inLines = false): string {
  const mark = text.startsWith(byteOrderMark) ? byteOrderMark : "";
  const plain = text.slice(mark.length);
  const root = parseTree(plain) as Node;
  const unit = /^[ \t]+(?=\S)/m.exec(plain)?.[0] ?? "  ";
  const eol = plain.includes("\r\n") ? "\r\n" : "\n";
  const write = (written: unknown, depth: number): string =>
    JSON.stringify(written, null, inLines ? unit : undefined).replaceAll("\n", eol + unit.repeat(depth));
  const old = findNodeAtLocation(root, [...path]);
  if (old) {
    const content = write(value, path.length);
    return mark + applyEdits(plain, [{ offset: old.offset, length: old.length, content }]);
  }
  const [first = "", ...rest] = path;
  const inner = rest.length > 0 ? findNodeAtLocation(root, [first]) : undefined;
  const [parent, key, depth] = inner ? [inner, rest, 2] : [root, path, 1];
  const nested = key.slice(1).reduceRight<unknown>((deeper, name) => ({ [name]: deeper }), value);
  const entry = `${eol}${unit.repeat(depth)}${JSON.stringify(key[0])}: ${write(nested, depth)}`;
  return mark + withEntry(plain, parent, entry, eol + unit.repeat(depth - 1));
}

/** Returns the text without one value: its entry and one comma go, comments stay. Not by `modify`, which would take those beside it along. */
export function withoutValue(text: string, path: readonly string[]): string {
  const mark = text.startsWith(byteOrderMark) ? byteOrderMark : "";
  const root = parseTree(text.slice(mark.length)) as Node;
  const entry = findNodeAtLocation(root, [...path])?.parent;
  if (!entry) return text;
  const start = mark.length + entry.offset;
  const end = start + entry.length;
  const plain = withoutComments(text);
  const after = /^\s*,/.exec(plain.slice(end));
  const comma = after ? end + after[0].length - 1 : plain.slice(0, start).search(/,\s*$/);
  const withoutComma = (from: number, to: number): string =>
    comma >= from && comma < to ? text.slice(from, comma) + text.slice(comma + 1, to) : text.slice(from, to);
  const [before, rest] = [withoutComma(0, start), withoutComma(end, text.length)];
  const isAlone = /\n[ \t]*$/.test(before) && /^[ \t]*\r?\n/.test(rest);
  return isAlone ? before.replace(/\r?\n[ \t]*$/, "") + rest.replace(/^[ \t]+/, "") : before + rest;
}

/**
 * Adds an entry, which brings its line break, after the last one. Not by jsonc-parser's `modify`: a comment behind the last entry would
 * come to stand behind the new one. `lastLine` begins the line of the closing bracket where it has none yet.
 */
function withEntry(text: string, { offset, length, children = [] }: Node, entry: string, lastLine: string): string {
  const close = offset + length - 1;
  const end = text.slice(0, close).trimEnd().length;
  const isOwnLine = text.slice(end, close).includes("\n");
  const added = isOwnLine
    ? { offset: end, length: 0, content: entry }
    : { offset: end, length: close - end, content: entry + lastLine };
  const last = children.at(-1);
  const after = last ? text.slice(last.offset + last.length, close) : "";
  const isClosed = !last || /^\s*(?:\/\*.*?\*\/\s*)*,/s.test(after);
  return applyEdits(text, [
    ...(last && !isClosed ? [{ offset: last.offset + last.length, length: 0, content: "," }] : []),
    added,
  ]);
}
