import { byteOrderMark, withoutComments } from "@toolcrib/kit/text";
import { applyEdits, findNodeAtLocation, type Node, parseTree } from "jsonc-parser";

/** The text of a file with one value set: all else stays as it is written, comments, order and indentation. */
export function withValue(found: string | undefined, path: readonly string[], value: unknown): string {
  const mark = found?.startsWith(byteOrderMark) ? byteOrderMark : "";
  const text = found?.slice(mark.length) ?? "{\n}\n";
  const root = parseTree(text) as Node;
  const old = findNodeAtLocation(root, [...path]);
  if (old) return mark + applyEdits(text, [{ offset: old.offset, length: old.length, content: JSON.stringify(value) }]);
  const [first = "", ...rest] = path;
  const inner = rest.length > 0 ? findNodeAtLocation(root, [first]) : undefined;
  const [parent, key] = inner ? [inner, rest] : [root, path];
  const nested = key.slice(1).reduceRight<unknown>((deeper, name) => ({ [name]: deeper }), value);
  return mark + withEntry(text, parent, `${JSON.stringify(key[0])}: ${JSON.stringify(nested)}`, inner ? 2 : 1);
}

/** The text without one value: its entry and one comma go, comments stay. Not by `modify`, which would take those beside it along. */
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

/** Adds an entry after the last one. Not by jsonc-parser's `modify`: a comment behind the last entry would come to stand behind the new one. */
function withEntry(text: string, { offset, length, children = [] }: Node, entry: string, depth: number): string {
  const unit = /^[ \t]+(?=\S)/m.exec(text)?.[0] ?? "  ";
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const close = offset + length - 1;
  const end = text.slice(0, close).trimEnd().length;
  const isOwnLine = text.slice(end, close).includes("\n");
  const content = `${eol}${unit.repeat(depth)}${entry}${isOwnLine ? "" : eol + unit.repeat(depth - 1)}`;
  const last = children.at(-1);
  const after = last ? text.slice(last.offset + last.length, close) : "";
  const isClosed = !last || /^\s*(?:\/\*.*?\*\/\s*)*,/s.test(after);
  const comma = last && !isClosed ? [{ offset: last.offset + last.length, length: 0, content: "," }] : [];
  return applyEdits(text, [...comma, { offset: end, length: isOwnLine ? 0 : close - end, content }]);
}
