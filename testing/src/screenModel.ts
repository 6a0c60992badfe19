import xterm from "@xterm/headless";

/** A terminal without a window, as xterm.js has it: rows are broken anew when it gets narrower, and what scrolls off is kept. */
export class ScreenModel {
  /** Everything that was written. */
  raw = "";
  readonly #terminal: xterm.Terminal;

  constructor(columns: number, rows = 24) {
    this.#terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
  }

  /** The scrolled and the visible rows, without spaces at the ends of rows, and without blank rows at the end. */
  get text(): string {
    const { buffer } = this.#terminal;
    const rows: string[] = [];
    for (let row = 0; row < buffer.active.length; row += 1)
      rows.push(buffer.active.getLine(row)?.translateToString(true).trimEnd() ?? "");
    return rows.join("\n").trimEnd();
  }

  /** The place of the cursor, counted from the top left of `text`. */
  get cursor(): { readonly row: number; readonly column: number } {
    const { baseY, cursorX, cursorY } = this.#terminal.buffer.active;
    return { row: baseY + cursorY, column: cursorX };
  }

  /** The terminal itself, for its colours. */
  get terminal(): xterm.Terminal {
    return this.#terminal;
  }

  /** Resolves when it is on the screen. */
  write(text: string): Promise<void> {
    this.raw += text;
    return new Promise((resolve) => this.#terminal.write(text, resolve));
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
  }
}
