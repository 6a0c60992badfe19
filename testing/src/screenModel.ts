/** A model of a terminal's screen. It knows the control codes that the command and readline use. */
export class ScreenModel {
  columns: number;
  /** Everything that was written. */
  raw = "";
  #rows: string[][] = [[]];
  #row = 0;
  #column = 0;
  #partial = "";

  constructor(columns: number) {
    this.columns = columns;
  }

  /** Without spaces at the ends of rows, and blank rows at the end. */
  get text(): string {
    return this.#rows
      .map((row) =>
        Array.from(row, (cell) => cell ?? " ")
          .join("")
          .trimEnd(),
      )
      .join("\n")
      .trimEnd();
  }

  write(text: string): void {
    this.raw += text;
    const all = this.#partial + text;
    this.#partial = "";
    for (let at = 0; at < all.length; ) {
      const [code, parameter = "", letter = ""] = /^\u001b\[([0-9;?]*)([A-Za-z])/.exec(all.slice(at, at + 20)) ?? [];
      if (code !== undefined) {
        this.#control(letter, Number(parameter || "0"));
        at += code.length;
      } else if (all[at] === "\u001b" && all.length - at < 20) {
        this.#partial = all.slice(at);
        return;
      } else {
        const character = String.fromCodePoint(all.codePointAt(at) ?? 0);
        this.#put(character);
        at += character.length;
      }
    }
  }

  #put(character: string): void {
    if (character === "\r") this.#column = 0;
    else if (character === "\n") this.#moveTo(this.#row + 1);
    else if (character === "\b") this.#column = Math.max(0, this.#column - 1);
    else if (character >= " ") {
      if (this.#column >= this.columns) {
        this.#moveTo(this.#row + 1);
        this.#column = 0;
      }
      const row = this.#rows[this.#row] ?? [];
      row[this.#column] = character;
      this.#column += 1;
    }
  }

  #control(letter: string, parameter: number): void {
    const count = parameter || 1;
    if (letter === "A") this.#moveTo(this.#row - count);
    else if (letter === "B") this.#moveTo(this.#row + count);
    else if (letter === "C") this.#column += count;
    else if (letter === "D") this.#column = Math.max(0, this.#column - count);
    else if (letter === "G") this.#column = count - 1;
    else if (letter === "K" || letter === "J") {
      this.#rows[this.#row]?.splice(this.#column);
      if (letter === "J") this.#rows.splice(this.#row + 1);
    }
  }

  #moveTo(row: number): void {
    this.#row = Math.max(0, row);
    while (this.#rows.length <= this.#row) this.#rows.push([]);
  }
}
