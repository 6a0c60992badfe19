import type { TextPhase } from "./messages.ts";
import type { ProviderEvent } from "./provider.ts";

/** The sign that a part of the reply came that shows nothing. */
export const contentSign: ProviderEvent = Object.freeze({ type: "activity", isContent: true });

/** Returns the line ends that are missing for a blank line between two texts; none where there is no text before. */
export function seamBetween(before: string, after: string): string {
  if (before === "") return "";
  const there = /\n{0,2}$/.exec(before.slice(-2))?.[0].length ?? 0;
  const follow = /^\n{0,2}/.exec(after)?.[0].length ?? 0;
  return "\n".repeat(Math.max(0, 2 - there - follow));
}

/** Shows the texts of one reply as `textOf` joins them: with a blank line between those that a call, thinking or another phase separates. */
export class TextSeams {
  #shown = "";
  #phase: TextPhase | undefined;
  #isApart = false;
  /** The line ends at the beginning of a text, until it is known how many there are. */
  #held = "";

  separate(): void {
    this.#isApart = true;
    this.#held = "";
  }

  /** Returns the events that show the next piece of text. */
  show(piece: string, phase?: TextPhase): ProviderEvent[] {
    if (piece === "") return [];
    this.#isApart ||= phase !== this.#phase;
    this.#phase = phase;
    let text = piece;
    if (this.#isApart && this.#shown !== "") {
      this.#held += piece;
      if (/^\n*$/.test(this.#held)) return [contentSign];
      text = seamBetween(this.#shown, this.#held) + this.#held;
    }
    this.#isApart = false;
    this.#held = "";
    this.#shown = (this.#shown + text).slice(-2);
    return [{ type: "text-delta", text, ...(phase && { phase }) }];
  }
}
