import { hangingRows } from "./hangingRows.ts";
import type { Kind } from "./turnRows.ts";

type FinishedKind = Kind | "question";

/** Rows that are to be printed for good, with a blank one between two kinds. */
export class FinishedRows {
  #rows: string[] = [];
  /** The kind of what was printed last. */
  lastKind: FinishedKind | undefined;

  add(kind: FinishedKind, rows: readonly string[]): void {
    if (this.lastKind !== undefined && (this.lastKind !== kind || kind === "message")) this.#rows.push("");
    this.#rows.push(...rows);
    this.lastKind = kind;
  }

  /** Takes them, in rows of this width. */
  take(columns: number): string[] {
    return this.#rows.splice(0).flatMap((row) => hangingRows(row, columns));
  }
}
