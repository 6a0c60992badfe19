import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui/dist/utils.js";
import { wantsColor } from "../style.ts";

/** The place of the cursor, counted from the first of the live rows. */
export interface CursorPlace {
  readonly row: number;
  readonly column: number;
}

export interface Surface {
  write(text: string): void;
  readonly columns: number;
  readonly rows: number;
  readonly isColored: boolean;
  /** True if it breaks rows anew when it gets narrower. */
  readonly reflows: boolean;
}

export function terminalSurface(stderr: NodeJS.WriteStream, env: NodeJS.ProcessEnv): Surface {
  return {
    write: (text) => void stderr.write(text),
    // A terminal that does not know its size says 0.
    get columns() {
      return stderr.columns || 80;
    },
    get rows() {
      return stderr.rows || 24;
    },
    isColored: wantsColor(stderr, env),
    // Of those in use, these three do not.
    reflows: env.XTERM_VERSION === undefined && env.STY === undefined && env.TERM !== "linux",
  };
}

/**
 * Returns what switches on that a paste arrives in brackets, and keys with Shift and Alt as themselves, where the terminal knows
 * how; what ends that; and what ends it where a killed chat has left it on.
 */
export function keyModes({ TERM }: NodeJS.ProcessEnv): {
  readonly on: string;
  readonly off: string;
  readonly reset: string;
} {
  const keys = TERM === "linux" ? ["", "", ""] : ["\u001b[>1u", "\u001b[<u", "\u001b[=0u"];
  return { on: `\u001b[?2004h${keys[0]}`, off: `\u001b[?2004l${keys[1]}\u001b[?25h`, reset: `${keys[2]}` };
}

/** Joins as many facts as fit into one row, the first always. */
export function joinedFacts(facts: readonly string[], width: number): string {
  let row = "";
  for (const fact of facts.filter((one) => one !== "")) {
    const longer = row === "" ? truncateToWidth(fact, width, "…") : `${row} · ${fact}`;
    if (visibleWidth(longer) <= width) row = longer;
  }
  return row;
}

/**
 * The last rows of the screen, which change in place. What is printed for good goes above them and is never touched again, so it is
 * the terminal's own to scroll. Only rows that differ are written, inside synchronized output.
 */
export class LiveRows {
  readonly #surface: Surface;
  #shown: readonly string[] = [];
  #row = 0;
  #columns: number;
  #cursor = "";
  /** Tells whether the cursor can be seen; undefined if others may have changed that. */
  #isVisible: boolean | undefined;
  #isCovered = false;

  constructor(surface: Surface) {
    this.#surface = surface;
    this.#columns = surface.columns;
  }

  /** Shows rows on all of the screen, which is back as it was with the next `draw`. */
  cover(rows: readonly string[]): void {
    const start = this.#isCovered ? "" : "\u001b[?1049h\u001b[?25l";
    this.#isCovered = true;
    const shown = rows.map((row) => `${this.#clean(row)}\u001b[K`).join("\r\n");
    this.#surface.write(`\u001b[?2026h${start}\u001b[H${shown}\u001b[J\u001b[?2026l`);
  }

  /** Scrolls what is printed off the screen: the next rows stand at its top. */
  scrollAway(): void {
    this.clear();
    this.#surface.write(`${"\r\n".repeat(this.#surface.rows - 1)}\u001b[H`);
  }

  /** Prints `done` for good, and shows `rows` below it. */
  draw(done: readonly string[], rows: readonly string[], cursor?: CursorPlace): void {
    let text = `${this.#isCovered ? "\u001b[?1049l" : ""}${this.#rewrap()}`;
    if (this.#isCovered) this.#isVisible = undefined;
    this.#isCovered = false;
    const room = Math.max(1, this.#surface.rows - 1);
    const cut = Math.max(0, rows.length - room);
    const live = rows.length > 0 ? rows.slice(cut).map(this.#clean) : [""];
    const next = [...done.map(this.#clean), ...live];
    const before = this.#shown;
    const go = (row: number): void => {
      text += row < this.#row ? `\u001b[${this.#row - row}A` : "\r\n".repeat(row - this.#row);
      this.#row = row;
    };
    for (const [row, now] of next.entries()) {
      const old = before[row];
      if (old === now) continue;
      go(row);
      text += rowChange(old, now);
    }
    if (before.length > next.length) {
      go(next.length);
      text += "\r\u001b[J";
    }
    const place = cursor && { row: done.length + cursor.row - cut, column: cursor.column };
    const end = place ? `\u001b[${place.column + 1}G` : "";
    const stays = text === "" && this.#cursor === `${place?.row} ${end}`;
    go(place?.row ?? next.length - 1);
    const isVisible = place !== undefined;
    const visibility = isVisible === this.#isVisible ? "" : isVisible ? "\u001b[?25h" : "\u001b[?25l";
    if (!stays || visibility !== "") this.#surface.write(`\u001b[?2026h${text}${end}${visibility}\u001b[?2026l`);
    this.#isVisible = isVisible;
    this.#shown = live;
    this.#row -= done.length;
    this.#cursor = `${this.#row} ${end}`;
  }

  /** Takes the rows off the screen, and leaves the cursor, which can be seen, where they began. */
  clear(): void {
    this.draw([], [], { row: 0, column: 0 });
    this.#isVisible = undefined;
  }

  /** Removes rows that the terminal has wrapped again. Touches no row above them if it is not known how the terminal does that. */
  #rewrap(): string {
    const { columns, reflows } = this.#surface;
    if (columns === this.#columns) return "";
    const above = this.#shown.slice(0, this.#row);
    const rows = reflows
      ? above.reduce((sum, row) => sum + Math.max(1, Math.ceil(visibleWidth(row) / columns)), 0)
      : above.length;
    this.#columns = columns;
    this.#shown = [];
    this.#row = 0;
    return `${rows > 0 ? `\u001b[${rows}A` : ""}\r\u001b[J`;
  }

  /** Makes a row whose only control codes are those of colours and weights: nothing in it moves the cursor. What it sets, it ends. */
  readonly #clean = (row: string): string => {
    const clean = row
      .replace(/\t/g, "    ")
      .replace(/(\u001b\[[0-9;]*m)|[\u0000-\u001f\u007f-\u009f]/g, this.#surface.isColored ? "$1" : "")
      .trimEnd();
    return clean.includes("\u001b") && !clean.endsWith("\u001b[0m") ? `${clean}\u001b[0m` : clean;
  };
}

/** Writes the end that a row has got, else all of it: over the old one, as a cleared row would flicker where output is not synchronized. */
function rowChange(old = "", now: string): string {
  const start = old.replace(/(?:\u001b\[[0-9;]*m)+$/, "");
  const added = now.startsWith(start) ? now.slice(start.length) : "";
  const codes = (start.match(/\u001b\[[0-9;]*m/g) ?? []).join("");
  if (start !== "" && /^[ -~\u001b]/.test(added)) return `\u001b[${visibleWidth(start) + 1}G${codes}${added}`;
  return `\r${now}${visibleWidth(old) > visibleWidth(now) ? "\u001b[K" : ""}`;
}
