/** Columns of the row that can be written over: what is before them in a longer line stays as it is. */
export const columns = 1024;
const tabStop = 8;

const zeroWidth = /^(?!\u00ad)[\p{Mn}\p{Me}\p{Cf}]$/u;
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\p{Emoji_Presentation}\u{20000}-\u{3fffd}]$/u;

/** A line that programs write over, as a row of a terminal. Each step takes bounded time, and the memory is flat. */
export class TerminalRow {
  readonly #emit: (text: string) => void;
  /** The line while it was only added to. */
  #plain = "";
  /** Set once something was written over: a character in its first column, "" in the others that it takes. */
  #cells: string[] | undefined;
  /** Undefined at the end of a plain line. */
  #column: number | undefined;

  /** Passes to `emit` what can no longer be written over. */
  constructor(emit: (text: string) => void) {
    this.#emit = emit;
  }

  /** Returns whether the next character goes to the end of a line that was only added to. */
  get isPlain(): boolean {
    return this.#column === undefined;
  }

  /** Adds printable characters and tabs. */
  write(text: string): void {
    if (this.isPlain) this.#plain = this.#emitFullRows(this.#plain + text);
    else for (const character of text) this.#put(character);
  }

  /** Moves to the start of the row. A line break that follows ends the line as it is, so nothing is split yet. */
  carriageReturn(): void {
    if (this.#column !== undefined || this.#plain !== "") this.#column = 0;
  }

  moveBy(by: number): void {
    const { column } = this.#split();
    this.moveTo(column + by);
  }

  moveTo(column: number): void {
    this.#split();
    this.#column = Math.max(0, Math.min(column, columns - 1));
  }

  /** Erases to the end (0), from the beginning (1) or all of it (2). */
  erase(what: number): void {
    const { cells, column } = this.#split();
    if (what === 2) cells.length = 0;
    else if (what === 1) {
      if (column < cells.length) this.#breakUp(column);
      cells.fill(" ", 0, column + 1);
    } else if (column < cells.length) {
      this.#breakUp(column);
      cells.length = column;
    }
  }

  /** Returns the line as it stands. A new one begins. */
  take(): string {
    const text = this.#cells?.join("").trimEnd() ?? this.#plain;
    this.#plain = "";
    this.#cells = undefined;
    this.#column = undefined;
    return text;
  }

  /** Counts how many of so many characters can no longer be written over, once they stand at the end of a plain line. */
  fullRows(added: number): number {
    return Math.max(0, lengthOfFullRows(this.#plain.length + added) - this.#plain.length);
  }

  #emitFullRows(text: string): string {
    let full = lengthOfFullRows(text.length);
    if (full === 0) return text;
    // Not between the halves of a surrogate pair.
    if ((text.charCodeAt(full - 1) & 0xfc00) === 0xd800) full -= 1;
    this.#emit(text.slice(0, full));
    return text.slice(full);
  }

  #split(): { cells: string[]; column: number } {
    if (this.#cells === undefined) {
      const column = this.#column;
      this.#cells = [];
      this.#column = 0;
      for (const character of this.#plain) this.#put(character);
      this.#column = column ?? this.#column;
    }
    return { cells: this.#cells, column: this.#column ?? 0 };
  }

  #put(character: string): void {
    let { cells, column } = this.#split();
    if (zeroWidth.test(character)) {
      joinMark(cells, column, character);
      return;
    }
    const width = character === "\t" ? tabStop - (column % tabStop) : wide.test(character) ? 2 : 1;
    if (column + (character === "\t" ? 1 : width) > columns) {
      this.#emit(cells.join(""));
      cells.length = 0;
      column = 0;
    }
    this.#column = column + width;
    // A tab moves over what is there.
    if (character === "\t" && column < cells.length) return;
    while (cells.length < column) cells.push(" ");
    for (let at = column; at < column + width; at += 1) {
      if (at < cells.length) this.#breakUp(at);
      cells[at] = at === column ? character : "";
    }
  }

  /** Makes spaces of a character that takes several columns, this one among them. */
  #breakUp(column: number): void {
    const cells = this.#cells ?? [];
    let at = column;
    while (cells[at] === "") at -= 1;
    for (let end = at + 1; cells[end] === ""; end += 1) cells[end] = cells[at] = " ";
  }
}

/** Returns how long the full rows are, without the last one, which stays, full or not. */
function lengthOfFullRows(length: number): number {
  return length === 0 ? 0 : length - 1 - ((length - 1) % columns);
}

/** Adds it to the character before the column. */
function joinMark(cells: string[], column: number, mark: string): void {
  let at = Math.min(column, cells.length) - 1;
  while (cells[at] === "") at -= 1;
  // Not more marks than a letter has: a cell stays small.
  if (at >= 0 && (cells[at] ?? "").length < 16) cells[at] += mark;
}
