import { matchesKey } from "@earendil-works/pi-tui/dist/keys.js";
import { truncateToWidth } from "@earendil-works/pi-tui/dist/utils.js";
import { showInvisible } from "@toolcrib/core/text";
import { type Choice, type ShownChoice, shownChoices } from "../ask.ts";
import type { Style } from "../style.ts";

/** Stands in place of the prompt, and gets the keys, until it is closed. */
export interface Panel {
  /** Hints on its keys, for the status row; a narrow one has only the first. */
  readonly hints: readonly string[];
  onKey(key: string): void;
  rows(columns: number, room: number): string[];
  leave(): void;
}

const mostItems = 10;

/** Lets the user pick one of some rows, by arrows or by typing a part of it. */
export class Picker implements Panel {
  readonly hints: readonly string[] = ["Enter picks", "Esc leaves", "type to filter"];
  readonly #choices: readonly Choice[];
  readonly #style: Style;
  readonly #done: (index: number | undefined) => void;
  #filter = "";
  #at = 0;

  /** Calls `done` with the number of the row, from 0; undefined if none was picked. */
  constructor(choices: readonly Choice[], style: Style, done: (index: number | undefined) => void) {
    this.#choices = choices.map((choice) => ({ ...choice, text: showInvisible(choice.text) }));
    this.#style = style;
    this.#done = done;
  }

  onKey(key: string): void {
    const found = this.#found();
    if (matchesKey(key, "escape") || matchesKey(key, "ctrl+c")) this.leave();
    else if (matchesKey(key, "enter")) this.#done(found[this.#at]?.index);
    else if (matchesKey(key, "up")) this.#at = Math.max(0, this.#at - 1);
    else if (matchesKey(key, "down")) this.#at = Math.min(found.length - 1, this.#at + 1);
    else if (matchesKey(key, "backspace")) this.#refilter(this.#filter.slice(0, -1));
    else if (key.length === 1 && key >= " " && key !== "\u007f") this.#refilter(this.#filter + key);
  }

  leave(): void {
    this.#done(undefined);
  }

  rows(columns: number): string[] {
    const { cyan, dim } = this.#style;
    const found = this.#found();
    const first = Math.max(0, Math.min(this.#at - (mostItems >> 1), found.length - mostItems));
    const rows = found.slice(first, first + mostItems).flatMap(({ text, heading }, index) => {
      const isAt = first + index === this.#at;
      const row = truncateToWidth(`${isAt ? "→" : " "} ${text}`, columns - 1, "…");
      return [...(heading === undefined ? [] : [dim(`  ${heading}:`)]), isAt ? cyan(row) : row];
    });
    return [
      ...(this.#filter === "" ? [] : [`filter: ${this.#filter}`]),
      ...(rows.length > 0 ? rows : [dim("  nothing has that in it")]),
      ...(found.length > mostItems ? [dim(`  (${this.#at + 1}/${found.length})`)] : []),
    ];
  }

  #refilter(filter: string): void {
    this.#filter = filter;
    this.#at = 0;
  }

  #found(): ShownChoice[] {
    const words = this.#filter.toLowerCase().split(" ");
    const found = [...this.#choices.keys()].filter((index) =>
      words.every((word) => this.#choices[index]?.text.toLowerCase().includes(word)),
    );
    return shownChoices(this.#choices, found);
  }
}

const closing = ["escape", "ctrl+o", "ctrl+c", "q"] as const;

/** Shows text that is longer than the screen, from its end or wherever the user goes. */
export class Pager implements Panel {
  readonly hints: readonly string[] = ["Esc or Ctrl-O closes", "arrows and Page keys move"];
  readonly #text: (columns: number) => readonly string[];
  readonly #close: () => void;
  #top: number | undefined;
  #page = 1;
  #last = 0;

  constructor(text: (columns: number) => readonly string[], close: () => void) {
    this.#text = text;
    this.#close = close;
  }

  onKey(key: string): void {
    const top = this.#top ?? this.#last;
    if (closing.some((one) => matchesKey(key, one))) this.leave();
    else if (matchesKey(key, "up")) this.#top = top - 1;
    else if (matchesKey(key, "down")) this.#top = top + 1;
    else if (matchesKey(key, "pageUp")) this.#top = top - this.#page;
    else if (matchesKey(key, "pageDown") || key === " ") this.#top = top + this.#page;
    else if (matchesKey(key, "home")) this.#top = 0;
    else if (matchesKey(key, "end")) this.#top = this.#last;
  }

  leave(): void {
    this.#close();
  }

  rows(columns: number, room: number): string[] {
    const rows = this.#text(columns);
    this.#page = Math.max(1, room - 1);
    this.#last = Math.max(0, rows.length - this.#page);
    const top = Math.min(Math.max(0, this.#top ?? this.#last), this.#last);
    if (this.#top !== undefined) this.#top = top;
    const shown = rows.slice(top, top + this.#page);
    return [...shown, `(${top + 1} to ${top + shown.length} of ${rows.length})`];
  }
}
