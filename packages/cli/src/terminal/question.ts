import { showInvisible } from "@toolcrib/core/text";
import type { Paint, Style } from "./style.ts";

/** The size of the screen, or of the part of it that is free. */
export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** A call as the user sees it before allowing it, in rows that fit the screen. */
export interface ShownCall {
  /** All of it where it fits the screen; else of each argument head and tail, and how much is left out. */
  readonly summary: readonly string[];
  readonly whole: readonly string[];
}

/** Arguments that say what a call reaches, as most tools name them: shown first. */
const decisiveArguments: readonly string[] =
  "command cmd script code sql query path paths file source destination url uri host to cwd env".split(" ");

const fewestRows = 3;

/** Characters that cannot be seen are written as their code, and no value can pass for another argument. */
export function showCall(args: Readonly<Record<string, unknown>>, { columns, rows: free }: ScreenSize): ShownCall {
  const fields = inOrder(args).map(([name, value]) => fieldRows(name, value, Math.max(20, columns - 1)));
  const whole = fields.flat();
  if (whole.length <= free) return { summary: whole, whole };
  const summary: string[] = [];
  for (const [index, field] of fields.entries()) {
    const left = free - summary.length;
    const fieldsLeft = fields.length - index;
    if (left <= fewestRows && fieldsLeft > 1) {
      summary.push(`  … ${fieldsLeft} more arguments`);
      break;
    }
    summary.push(...headAndTail(field, fieldsLeft === 1 ? left : Math.max(fewestRows, left >> 1)));
  }
  return { summary, whole };
}

export function showDiff(diff: string, { columns, rows: free }: ScreenSize, style: Style): ShownCall {
  const width = Math.max(20, columns - 3);
  const plain: Paint = (text) => text;
  const lines = diff.replace(/\n$/, "").split("\n");
  const whole = lines.flatMap((line, index) => {
    const paint = index < 2 ? style.bold : (paints[line.charAt(0)]?.(style) ?? plain);
    // The mark of a context line is no space of the file.
    const shown = line === " " ? "" : showLine(line, true);
    return wrap(shown, width).map((row, at) => `${at === 0 ? " " : "↳"} ${paint(row)}`);
  });
  return { summary: headAndTail(whole, free), whole };
}

const paints: Readonly<Record<string, (style: Style) => Paint>> = {
  "+": ({ green }) => green,
  "-": ({ red }) => red,
  "@": ({ cyan }) => cyan,
};

/** Breaks a sentence into rows that fit the screen, broken between words. `margin`: before each further row. */
export function showText(text: string, columns: number, margin = ""): string[] {
  const width = Math.max(20, columns - 1) - margin.length;
  const rows: string[] = [];
  for (const word of showInvisible(text).split(" ")) {
    const last = rows.at(-1);
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= width) rows[rows.length - 1] = `${last} ${word}`;
    else rows.push(...wrap(word, width));
  }
  return rows.map((row, index) => (index === 0 ? row : margin + row));
}

export function inOrder(args: Readonly<Record<string, unknown>>): [string, unknown][] {
  const rank = (name: string): number => (decisiveArguments.indexOf(name) + 1 || Infinity) as number;
  return Object.entries(args).sort(([a], [b]) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)));
}

/** Writes `name: value`; a value of several lines, or one too long for the row, below the name with a margin before each row. */
function fieldRows(name: string, value: unknown, width: number): string[] {
  const text = typeof value === "string" ? value : readableJson(value);
  const lines = text.split("\n").map((line, _index, { length }) => showLine(line, length > 1));
  const label = `  ${showInvisible(name)}:`;
  const first = text === "" ? "(empty)" : (lines[0] ?? "");
  if (lines.length === 1 && widthOf(label) + 1 + widthOf(first) <= width) return [`${label} ${first}`];
  return [
    ...wrap(label, width),
    ...lines.flatMap((line) => wrap(line, width - 4).map((row, index) => `  ${index === 0 ? "|" : "↳"} ${row}`)),
  ];
}

/** Spaces at the end of a line are written as codes, and tabs, but for the indentation of several lines. */
function showLine(line: string, isOneOfMany: boolean): string {
  const indented = isOneOfMany ? line.replace(/^\t+/, (tabs) => "    ".repeat(tabs.length)) : line;
  return showInvisible(indented).replace(/ +$/, (spaces) => "<U+0020>".repeat(spaces.length));
}

function readableJson(value: unknown): string {
  const compact = JSON.stringify(value) ?? String(value);
  return compact.length <= 60 ? compact : (JSON.stringify(value, null, 2) ?? compact);
}

/** Breaks text into rows, at least one. */
function wrap(text: string, width: number): string[] {
  if (widthOf(text) <= width) return [text];
  const rows: string[] = [];
  let row = "";
  let used = 0;
  for (const character of text) {
    const cells = cellsOf(character);
    if (used + cells > width) {
      rows.push(row);
      row = "";
      used = 0;
    }
    row += character;
    used += cells;
  }
  return [...rows, row];
}

/** Returns as much of a line as fits one row, without what cannot be seen. */
export function firstRow(line: string, width: number): string {
  return wrap(showInvisible(line.slice(0, width)), width)[0] ?? "";
}

export function endOfRow(line: string, width: number): string {
  if (widthOf(line) <= width) return line;
  let row = "";
  let used = cellsOf("…");
  for (const character of [...line].reverse()) {
    used += cellsOf(character);
    if (used > width) break;
    row = character + row;
  }
  return `…${row}`;
}

export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += cellsOf(character);
  return width;
}

/** Returns an upper bound: the terminal must not wrap a row. */
function cellsOf(character: string): number {
  return (character.codePointAt(0) ?? 0) < 0x1100 ? 1 : 2;
}

function headAndTail(rows: readonly string[], limit: number): string[] {
  if (rows.length <= limit) return [...rows];
  const tail = Math.max(1, Math.floor((limit - 1) / 3));
  const head = Math.max(1, limit - 1 - tail);
  return [...rows.slice(0, head), `  … ${rows.length - head - tail} more rows`, ...rows.slice(-tail)];
}

/** Writes a word of a command that the user may copy: it may come from a file of somebody else. */
export function shellWord(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
