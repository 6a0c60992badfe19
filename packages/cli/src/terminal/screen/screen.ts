import { SelectList } from "@earendil-works/pi-tui/dist/components/select-list.js";
import { matchesKey } from "@earendil-works/pi-tui/dist/keys.js";
import { StdinBuffer } from "@earendil-works/pi-tui/dist/stdin-buffer.js";
import { truncateToWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui/dist/utils.js";
import type { AgentEvent } from "@toolcrib/agent";
import { type ChatInput, type ChatInputOptions, type ChatScreen, type Completions, LineQueue } from "../chatLines.ts";
import type { Keyboard } from "../keyboard.ts";
import { oneLine } from "../render.ts";
import { completionProvider } from "./completion.ts";
import { InputLine, listTheme } from "./inputLine.ts";
import { type CursorPlace, LiveRows, type Surface, terminalSurface } from "./liveRows.ts";
import { callDetails, type FinishedCall, type Kind, TurnRows } from "./turnRows.ts";

/** Milliseconds between two drawings. */
const pauseMs = 33;
const mostMessageRows = 10;
const mostCalls = 20;

/**
 * A conversation on a terminal: what is said stays where it was printed, and below it are the rows that change, with the message that is
 * typed as the last. The editor, its keys and the markdown are those of pi-tui, bundled: it needs no React, as ink does, starts in a third of the time
 * and knows pastes, completion and wide characters. Its own screens are not used: they keep the whole conversation in memory, and print it anew, the
 * terminal's history cleared, when the window changes its size.
 */
export class Screen implements ChatInput, ChatScreen {
  readonly screen: ChatScreen = this;
  readonly keyboard: Keyboard;
  readonly #options: ChatInputOptions;
  readonly #queue = new LineQueue();
  readonly #keys = new StdinBuffer();
  readonly #surface: Surface;
  readonly #rows: LiveRows;
  readonly #line: InputLine;
  /** Loaded after the first prompt: the rules of markdown take as long as all the rest. */
  readonly #markdown: Promise<typeof import("./markdown.ts")>;
  #picker: SelectList | undefined;
  #turn: TurnRows | undefined;
  #calls: FinishedCall[] = [];
  /** Rows to be printed for good. */
  #done: string[] = [];
  #lastKind: Kind | "question" | undefined;
  #drawTimer: NodeJS.Timeout | undefined;
  #drawnAt = 0;
  #paused = false;
  typed = 0;
  #facts = (): readonly string[] => ["starting"];
  readonly #modes: { readonly on: string; readonly off: string };

  /** `before`: earlier messages; `early`: what was typed so far. */
  constructor(
    keyboard: Keyboard,
    { before, early }: { readonly before: readonly string[]; readonly early: readonly (string | undefined)[] },
    options: ChatInputOptions,
  ) {
    this.keyboard = keyboard;
    this.#options = options;
    const { terminal, env } = options;
    const { style } = terminal;
    this.#surface = terminalSurface(env);
    // A paste arrives in brackets, and keys with Shift and Alt as themselves, where the terminal knows how. A killed chat has left that on.
    const keys = env.TERM === "linux" ? ["", "", ""] : ["\u001b[>1u", "\u001b[<u", "\u001b[=0u"];
    this.#modes = { on: `\u001b[?2004h${keys[0]}`, off: `\u001b[?2004l${keys[1]}\u001b[?25h` };
    this.#rows = new LiveRows(this.#surface);
    this.#line = new InputLine(this.#surface, style, () => this.#changed());
    this.#line.onSubmit = (text) => this.#submit(text);
    this.#keys.on("data", (key) => this.#onKey(key));
    this.#keys.on("paste", (text) => this.#onKey(`\u001b[200~${text}\u001b[201~`));
    terminal.keepBelow({
      print: (text) => this.#note(text.replace(/^\n|\n$/g, "").split("\n")),
      pause: () => this.#pause(),
      resume: () => this.#resume(),
    });
    process.stderr.on("resize", this.#changed);
    process.on("exit", this.#leave);
    keyboard.take(this.#onTyped);
    this.#surface.write(`${keys[2]}${this.#modes.on}`);
    for (const line of before) this.#line.addToHistory(line);
    for (const typed of early) this.#onTyped(typed);
    this.#draw();
    this.#markdown = import("./markdown.ts");
  }

  async next(): Promise<string | undefined> {
    const line = await this.#queue.next();
    if (line === undefined) return undefined;
    const { style } = this.#options.terminal;
    const rows = line.split("\n").map((row, index) => `${index === 0 ? style.cyan(">") : " "} ${row}`);
    const left = rows.length - mostMessageRows;
    this.#print("message", left > 1 ? [...rows.slice(0, mostMessageRows), style.dim(`  … ${left} more lines`)] : rows);
    this.#draw();
    return line;
  }

  completeWith(completions: Completions): void {
    this.#line.completeWith(completionProvider(completions));
  }

  tell(facts: () => readonly string[]): void {
    this.#facts = facts;
    this.#changed();
  }

  async startTurn(): Promise<{ show(event: AgentEvent): void; end(): void }> {
    const { createAnswers } = await this.#markdown;
    const turn = new TurnRows({
      style: this.#options.terminal.style,
      answer: createAnswers(this.#options.terminal.style, this.#surface.isColored),
      columns: () => this.#columns,
      print: (kind, rows) => this.#print(kind, rows),
      finished: (call) => {
        this.#calls = [...this.#calls, call].slice(-mostCalls);
      },
    });
    this.#turn = turn;
    const clock = setInterval(this.#changed, 1000);
    return {
      show: (event) => {
        turn.show(event);
        this.#changed();
      },
      end: () => {
        clearInterval(clock);
        turn.end();
        this.#turn = undefined;
        this.#changed();
      },
    };
  }

  async pick(rows: readonly string[]): Promise<number | undefined> {
    if (this.#queue.hasEnded) return undefined;
    const items = rows.map((row, index) => ({ value: String(index), label: row }));
    const picker = new SelectList(items, 10, listTheme(this.#options.terminal.style));
    try {
      return await new Promise((resolve) => {
        picker.onSelect = ({ value }) => resolve(Number(value));
        picker.onCancel = () => resolve(undefined);
        this.#picker = picker;
        this.#changed();
      });
    } finally {
      this.#picker = undefined;
      this.#changed();
    }
  }

  clear(): void {
    this.#line.setText("");
    this.#changed();
  }

  close(): void {
    this.#options.terminal.keepBelow(undefined);
    process.stderr.off("resize", this.#changed);
    process.off("exit", this.#leave);
    this.#leave();
    this.#keys.destroy();
    this.keyboard.close();
  }

  get #columns(): number {
    return this.#surface.columns;
  }

  #submit(text: string): void {
    if (text === "") return;
    this.#line.addToHistory(text);
    void this.#options.history.add(text);
    this.#queue.push(text);
  }

  readonly #onTyped = (typed: string | undefined): void => {
    // Until a terminal is read key by key, it makes line breaks of Enter. Ctrl-J, which is one, comes by itself.
    if (typed !== undefined) this.#keys.process(typed.length > 1 ? typed.replaceAll("\n", "\r") : typed);
    else {
      this.#queue.end();
      this.#picker?.onCancel?.();
    }
  };

  #onKey(key: string): void {
    if (!matchesKey(key, "ctrl+c")) this.typed += 1;
    if (matchesKey(key, "ctrl+c") && !this.#picker) this.#options.onInterrupt();
    else if (this.#picker) this.#picker.handleInput(key);
    else if (matchesKey(key, "ctrl+d") && this.#line.getText() === "") this.#queue.end();
    else if (matchesKey(key, "ctrl+o")) this.#showCalls();
    else if (matchesKey(key, "ctrl+z") && process.platform !== "win32") this.#suspend();
    else this.#line.handleInput(key);
    this.#changed();
  }

  /** Each call once: they stay where they were printed. */
  #showCalls(): void {
    const rows = callDetails(this.#calls.splice(0), this.#options.terminal.style, this.#columns);
    this.#note(rows.length > 0 ? rows : [this.#options.terminal.style.dim("No call since the last look.")]);
  }

  #note(rows: readonly string[]): void {
    this.#turn?.pause();
    this.#print("note", rows);
  }

  #print(kind: Kind | "question", rows: readonly string[]): void {
    this.#done.push(...this.#gapBefore(kind), ...rows);
    this.#lastKind = kind;
    this.#changed();
  }

  #gapBefore(kind: Kind | "question"): string[] {
    return this.#lastKind !== undefined && (this.#lastKind !== kind || kind === "message") ? [""] : [];
  }

  readonly #changed = (): void => {
    if (this.#drawTimer) return;
    const wait = Math.max(0, this.#drawnAt + pauseMs - Date.now());
    this.#drawTimer = setTimeout(() => this.#draw(), wait);
  };

  #draw(): void {
    clearTimeout(this.#drawTimer);
    this.#drawTimer = undefined;
    if (this.#paused) return;
    this.#drawnAt = Date.now();
    const columns = this.#columns;
    const room = Math.max(3, this.#surface.rows >> 1);
    const parts = this.#turn?.rows(columns, room) ?? [];
    const live: string[] = [];
    let kind = this.#lastKind;
    for (const part of parts) {
      if (part.rows.length === 0) continue;
      if (kind !== undefined && kind !== part.kind) live.push("");
      live.push(...part.rows);
      kind = part.kind;
    }
    const { rows, cursor } = this.#picker
      ? { rows: this.#picker.render(columns), cursor: undefined }
      : this.#line.draw(columns);
    const above = [...live, ...(kind === undefined ? [] : [""]), ...this.#status(columns), ...this.#waiting(columns)];
    const place: CursorPlace | undefined = cursor && { ...cursor, row: above.length + cursor.row };
    this.#rows.draw(this.#takeDone(), [...above, ...rows], place);
  }

  /** Takes the finished output, in rows of the screen's present width. */
  #takeDone(): string[] {
    return this.#done.splice(0).flatMap((row) => wrapTextWithAnsi(row, this.#columns));
  }

  /** As many facts as fit one row. */
  #status(columns: number): string[] {
    const { style } = this.#options.terminal;
    const keys = this.#calls.length > 0 ? ["Ctrl-O shows the calls"] : [];
    const facts = this.#picker
      ? ["Enter picks", "Esc leaves"]
      : this.#turn
        ? [...this.#turn.facts(), ...keys]
        : [...this.#facts(), ...keys];
    let row = "";
    for (const fact of facts.filter((one) => one !== "")) {
      const longer = row === "" ? truncateToWidth(fact, columns - 1, "…") : `${row} · ${fact}`;
      if (longer.length < columns) row = longer;
    }
    return row === "" ? [] : [style.dim(row)];
  }

  /** Messages that wait for the turn to end. */
  #waiting(columns: number): string[] {
    const { style } = this.#options.terminal;
    return this.#queue.lines.map((line) => style.dim(oneLine(`waits: ${line}`, columns - 1)));
  }

  #pause(): void {
    this.#paused = true;
    this.#rows.draw([...this.#takeDone(), ...this.#gapBefore("question")], [], { row: 0, column: 0 });
    this.#lastKind = "question";
    this.#surface.write(this.#modes.off);
  }

  #resume(): void {
    this.#surface.write(this.#modes.on);
    this.#turn?.restartClocks();
    this.#paused = false;
    this.#draw();
  }

  #suspend(): void {
    this.#pause();
    this.keyboard.setRawMode(false);
    process.once("SIGCONT", () => {
      this.keyboard.setRawMode(true);
      this.#resume();
    });
    process.kill(process.pid, "SIGTSTP");
  }

  /** Leaves the terminal as it was, below what was printed. */
  readonly #leave = (): void => {
    clearTimeout(this.#drawTimer);
    this.#rows.draw(this.#takeDone(), [], { row: 0, column: 0 });
    this.#paused = true;
    this.#surface.write(this.#modes.off);
  };
}
