import { Markdown, type MarkdownTheme } from "@earendil-works/pi-tui/dist/components/markdown.js";
import { setCapabilities } from "@earendil-works/pi-tui/dist/terminal-image.js";
import { stripTerminalSequences, wrapTextWithAnsi } from "@earendil-works/pi-tui/dist/utils.js";
import { withoutControls } from "@toolcrib/core/text";
import { Lexer } from "marked";
import type { Style } from "../style.ts";
import { hangingRows } from "./hangingRows.ts";

/** Characters of one block, a list or a file of code, that are rendered anew at each drawing: 10 ms of a list. */
const longestBlock = 4000;
/** Says that the block can only be divided within an item. */
const longestItem = 20_000;

type Render = (markdown: string, width: number) => string[];

export function createAnswers(style: Style, isColored: boolean): () => StreamedAnswer {
  const render = markdownRenderer(style, isColored);
  return () => new StreamedAnswer(render);
}

/** Renders Markdown in rows; without colours as it was written, which everybody can read. */
function markdownRenderer(style: Style, isColored: boolean): Render {
  // An address is always shown: a link hides where it leads.
  setCapabilities({ images: null, trueColor: false, hyperlinks: false });
  const same = (text: string): string => text;
  let columns = 0;
  const theme: MarkdownTheme = {
    heading: style.cyan,
    link: style.cyan,
    linkUrl: style.dim,
    code: style.cyan,
    codeBlock: style.green,
    highlightCode: (code) => code.split("\n").flatMap((line) => hangingRows(line, columns - 2, 2).map(style.green)),
    codeBlockBorder: style.dim,
    quote: same,
    quoteBorder: style.dim,
    hr: style.dim,
    listBullet: style.cyan,
    bold: style.bold,
    italic: style.italic,
    strikethrough: same,
    underline: style.underline,
  };
  const options = { preserveOrderedListMarkers: true, renderLatex: false };
  return (markdown, width) => {
    columns = width;
    const rows = isColored
      ? new Markdown(markdown, 0, 0, theme, undefined, options).render(width)
      : markdown.split("\n").flatMap((line) => wrapTextWithAnsi(line.replace(/\t/g, "    "), width));
    const trimmed = rows.map((row) => row.trimEnd());
    while (trimmed.at(-1) === "") trimmed.pop();
    while (trimmed[0] === "") trimmed.shift();
    return trimmed;
  };
}

/** An answer that comes in pieces: blocks are given for good once they are complete, and of a long block its earlier rows. */
export class StreamedAnswer {
  readonly #render: Render;
  #source = "";
  /** Characters that can be seen, in the rows of the last block that were given already. */
  #given = 0;
  #hasGiven = false;
  /** Tells whether the source goes on with the block whose beginning was given. */
  #isDivided = false;

  constructor(render: Render) {
    this.#render = render;
  }

  append(text: string): void {
    this.#source += withoutControls(text);
  }

  /** Returns the complete rows, and the open ones, at most `room` of these. */
  rows(width: number, room: number): { readonly done: string[]; readonly open: string[] } {
    const done: string[] = [];
    const blocks = new Lexer().lex(this.#source);
    const last = blocks.findLastIndex(({ type }) => type !== "space");
    const complete = blocks.slice(0, Math.max(0, last)).reduce((length, { raw }) => length + raw.length, 0);
    if (complete > 0) this.#give(done, this.#rowsOf(this.#source.slice(0, complete), width), complete);
    const end = this.#source.length > longestBlock ? divisionOf(this.#source, blocks[last]?.type) : 0;
    if (end > 0) {
      this.#divide(done, width, end);
      this.#isDivided = true;
    }
    const open = this.#rowsOf(this.#source, width);
    // Each line of a table may change the width of all its columns, so its rows are given at once, at its end.
    if (new Lexer().lex(this.#source)[0]?.type === "table") return { done, open: open.slice(-room) };
    let early = Math.max(0, open.length - room);
    while (early > 0 && open[early - 1] === "") early -= 1;
    for (const row of open.slice(0, early)) this.#given += sizeOf(row);
    if (early > 0) this.#hasGiven = true;
    return { done: [...done, ...open.slice(0, early)], open: open.slice(early) };
  }

  end(width: number): string[] {
    const { done, open } = this.rows(width, Number.POSITIVE_INFINITY);
    this.#give(done, open, this.#source.length);
    return done;
  }

  #give(done: string[], rows: readonly string[], length: number): void {
    done.push(...rows);
    if (rows.length > 0) this.#hasGiven = true;
    this.#source = this.#source.slice(length);
    this.#given = 0;
    this.#isDivided = false;
  }

  /** Returns everything that came so far; more may follow. */
  pause(width: number): string[] {
    const { done } = this.rows(width, Number.POSITIVE_INFINITY);
    this.#divide(done, width, this.#source.length);
    return done;
  }

  /** Ends a block in its middle; the rest of code stays code. */
  #divide(done: string[], width: number, end: number): void {
    const fence = /^ {0,3}(?:`{3,}|~{3,})[^\n]*\n/.exec(this.#source)?.[0] ?? "";
    const rows = this.#rowsOf(this.#source.slice(0, end), width);
    // Without the row that would close it.
    this.#give(done, fence ? rows.slice(0, -1) : rows, end);
    this.#source = fence + this.#source;
    this.#given = sizeOf(fence);
  }

  /** Returns rows that were not given, also if the width has changed since. What may have been given in part comes once more. */
  #rowsOf(markdown: string, width: number): string[] {
    const rows = this.#render(markdown, width);
    let left = this.#given;
    let from = 0;
    for (; from < rows.length && left > 0; from += 1) {
      const size = sizeOf(rows[from] ?? "");
      // A few characters may be left where marks of emphasis have become weights.
      if (size > left || (size > 0 && left < 8 && size !== left)) break;
      left -= size;
    }
    const isNewBlock = this.#given === 0 && this.#hasGiven && !this.#isDivided;
    return isNewBlock && rows.length > 0 ? ["", ...rows] : rows.slice(from);
  }
}

/** Finds where a long block is divided: after a line, of a list before an item; 0 for nowhere. */
function divisionOf(source: string, type: string | undefined): number {
  if (type === "table") return 0;
  if (type !== "list") return source.lastIndexOf("\n") + 1;
  const item = [...source.matchAll(/\n(?=(?:[-*+]|\d{1,9}[.)]) )/g)].at(-1);
  return item ? item.index + 1 : source.length > longestItem ? source.lastIndexOf("\n") + 1 : 0;
}

function sizeOf(row: string): number {
  return stripTerminalSequences(row).replace(/\s/g, "").length;
}
