import { matchesKey } from "@earendil-works/pi-tui/dist/keys.js";
import { StdinBuffer } from "@earendil-works/pi-tui/dist/stdin-buffer.js";
import type { AgentEvent } from "@toolcrib/agent";
import { oneLine } from "@toolcrib/core/internal";
import type { Choice } from "../ask.ts";
import type { ChatInput, ChatInputOptions, ChatScreen, Completions, Status } from "../chatLines.ts";
import { LineQueue } from "../chatLines.ts";
import type { Keyboard } from "../keyboard.ts";
import { hangingRows } from "./hangingRows.ts";
import { completionProvider, InputLine } from "./inputLine.ts";
import { joinedFacts, keyModes, LiveRows, type Surface, terminalSurface } from "./liveRows.ts";
import { Pager, type Panel, Picker } from "./panel.ts";
import { clipboardPicture, pastedText, removePictures } from "./pastedPicture.ts";
import { type Kind, messageRows, SpacedRows, TurnRows } from "./turnRows.ts";

/** Milliseconds between two drawings. */
const pauseMs = 33;

/**
 * A conversation on a terminal: what is said stays where it was printed, and below it are the rows that change, with the message that is
 * typed as the last. The editor and the markdown are those of pi-tui, whose own screens print all anew when the window changes its size.
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
  #panel: Panel | undefined;
  #turn: TurnRows | undefined;
  #history: string[];
  readonly #done = new SpacedRows();
  #drawTimer: NodeJS.Timeout | undefined;
  #drawnAt = 0;
  #pausedAt: number | undefined;
  typed = 0;
  #status: Status = { facts: () => ["starting"], mode: () => "", changeMode: () => {} };
  readonly #modes: ReturnType<typeof keyModes>;

  /** Starts with `before`, earlier messages, and `early`, the keys typed so far. */
  constructor(
    keyboard: Keyboard,
    { before, early }: { readonly before: readonly string[]; readonly early: readonly (string | undefined)[] },
    options: ChatInputOptions,
  ) {
    this.keyboard = keyboard;
    this.#options = options;
    const { host, terminal, env } = options.program;
    this.#surface = terminalSurface(host.stderr, env);
    this.#modes = keyModes(env);
    this.#rows = new LiveRows(this.#surface);
    this.#line = new InputLine(this.#surface, terminal.style, () => this.#changed());
    this.#line.onSubmit = (text) => this.#submit(text);
    this.#keys.on("data", (key) => this.#onKey(key));
    this.#keys.on("paste", (text) => this.#onKey(`\u001b[200~${pastedText(text)}\u001b[201~`));
    terminal.keepBelow({
      print: (text) => this.#note(text.replace(/^\n|\n$/g, "").split("\n")),
      pause: () => this.#pause(),
      resume: () => this.#resume(),
    });
    host.stderr.on("resize", this.#changed);
    host.on("exit", this.#leave);
    keyboard.take(this.#onTyped);
    this.#surface.write(`${this.#modes.reset}${this.#modes.on}`);
    this.#history = [...before];
    for (const line of before) this.#line.addToHistory(line);
    for (const typed of early) this.#onTyped(typed);
    this.#draw();
    this.#markdown = import("./markdown.ts");
  }

  async next(): Promise<string | undefined> {
    const line = await this.#queue.next();
    if (line === undefined) return line;
    this.#print("message", messageRows(line, this.#options.program.terminal.style));
    this.#draw();
    return line;
  }

  tell(status: Status, completions: Completions): void {
    this.#status = status;
    this.#line.completeWith(completionProvider(completions));
    this.#changed();
  }

  async startTurn(): Promise<{ show(event: AgentEvent): void; end(): void }> {
    const { createAnswers } = await this.#markdown;
    const turn = new TurnRows({
      style: this.#options.program.terminal.style,
      answer: createAnswers(this.#options.program.terminal.style, this.#surface.isColored),
      columns: () => this.#surface.columns,
      print: (kind, rows) => this.#print(kind, rows),
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

  readonly pick = async (choices: readonly Choice[]): Promise<number | undefined> => {
    if (this.#queue.hasEnded) return undefined;
    try {
      return await new Promise((resolve) => {
        this.#panel = new Picker(choices, this.#options.program.terminal.style, resolve);
        this.#changed();
      });
    } finally {
      this.#panel = undefined;
      this.#changed();
    }
  };

  clear(): void {
    this.#line.setText("");
    this.#changed();
  }

  close(): void {
    const { host, terminal } = this.#options.program;
    terminal.keepBelow(undefined);
    host.stderr.off("resize", this.#changed);
    host.off("exit", this.#leave);
    this.#leave();
    this.#keys.destroy();
    this.keyboard.close();
  }

  #submit(text: string): void {
    if (text === "") return;
    this.#line.addToHistory(text);
    this.#history.push(text);
    void this.#options.history.add(text);
    this.#queue.push(text);
  }

  readonly #onTyped = (typed: string | undefined): void => {
    // Until a terminal is read key by key, it makes line breaks of Enter. Ctrl-J, which is one, comes by itself.
    if (typed !== undefined) this.#keys.process(typed.length > 1 ? typed.replaceAll("\n", "\r") : typed);
    else {
      this.#queue.end();
      this.#panel?.leave();
    }
  };

  #onKey(key: string): void {
    const { onInterrupt, onEscape } = this.#options;
    if (!matchesKey(key, "ctrl+c")) this.typed += 1;
    if (this.#panel) this.#panel.onKey(key);
    else if (matchesKey(key, "ctrl+c")) onInterrupt();
    else if (matchesKey(key, "escape") && this.#turn && !this.#line.isShowingAutocomplete()) onEscape();
    else if (matchesKey(key, "ctrl+d") && this.#line.getText() === "") this.#queue.end();
    else if (matchesKey(key, "ctrl+o") && this.#status.calls?.isEmpty === false) this.#unfold();
    else if (matchesKey(key, "ctrl+l")) this.#rows.scrollAway();
    else if (matchesKey(key, "ctrl+r")) void this.#searchHistory();
    else if (matchesKey(key, "ctrl+v"))
      this.#pastePicture().catch(() => this.#options.program.terminal.aside("The picture could not be kept."));
    else if (matchesKey(key, "shift+tab")) this.#status.changeMode();
    else if (matchesKey(key, "ctrl+z") && process.platform !== "win32") this.#suspend();
    else if (matchesKey(key, "up") && this.#line.getText() === "" && !this.#queue.isEmpty) this.#takeBack();
    else this.#line.handleInput(key);
    this.#echo();
  }

  /** Puts the last message that waits back into the line, where it can be changed or cleared. */
  #takeBack(): void {
    this.#line.setText(this.#queue.lines.pop() ?? "");
  }

  async #searchHistory(): Promise<void> {
    const lines = [...new Set(this.#history.toReversed())];
    const index = await this.pick(lines.map((line) => ({ text: line.replace(/\s+/g, " ") })));
    const line = index === undefined ? undefined : lines[index];
    if (line !== undefined) this.#line.setText(line);
    this.#changed();
  }

  async #pastePicture(): Promise<void> {
    const mention = await clipboardPicture(this.#options.program.cwd);
    if (mention === undefined) this.#options.program.terminal.aside("There is no picture in the clipboard.");
    else this.#line.insertTextAtCursor(`${mention} `);
    this.#changed();
  }

  #unfold(): void {
    const text = (columns: number): string[] =>
      (this.#status.calls?.describe(columns) ?? "").split("\n").flatMap((row) => hangingRows(row, columns));
    this.#panel = new Pager(text, () => {
      this.#panel = undefined;
      this.#changed();
    });
  }

  #note(rows: readonly string[]): void {
    this.#turn?.pause();
    this.#print("note", rows);
  }

  #print(kind: Kind, rows: readonly string[]): void {
    this.#done.add(kind, rows);
    this.#changed();
  }

  readonly #changed = (): void => {
    this.#drawTimer ??= setTimeout(() => this.#draw(), Math.max(0, this.#drawnAt + pauseMs - Date.now()));
  };

  #echo(): void {
    clearTimeout(this.#drawTimer);
    this.#drawTimer = setTimeout(() => this.#draw(), 0);
  }

  #draw(): void {
    clearTimeout(this.#drawTimer);
    this.#drawTimer = undefined;
    if (this.#pausedAt !== undefined) return;
    this.#drawnAt = Date.now();
    const { columns, rows: height } = this.#surface;
    const parts = this.#turn?.rows(columns, Math.max(3, height >> 1)) ?? [];
    const live = new SpacedRows(this.#done.lastKind);
    for (const { kind, rows } of parts) if (rows.length > 0) live.add(kind, rows);
    const { rows, cursor } = this.#panel
      ? { rows: this.#panel.rows(columns, Math.max(3, height - 1)), cursor: undefined }
      : this.#line.draw(columns);
    const status = this.#statusRow(columns);
    if (this.#panel instanceof Pager) this.#rows.cover([...status, ...rows]);
    else {
      const { dim } = this.#options.program.terminal.style;
      const waiting = this.#queue.lines.map((line) => dim(oneLine(`waits: ${line}`, columns - 1)));
      const above = [...live.rows, ...(live.lastKind === undefined ? [] : [""]), ...status, ...waiting];
      const place = cursor && { ...cursor, row: above.length + cursor.row };
      this.#rows.draw(this.#done.take(columns), [...above, ...rows], place);
    }
  }

  #statusRow(columns: number): string[] {
    const keys = this.#status.calls?.isEmpty === false ? ["Ctrl-O opens"] : [];
    const [first = "", ...facts] = (this.#turn ?? this.#status).facts().filter((fact) => fact !== "");
    const row = joinedFacts(this.#panel?.hints ?? [first, this.#status.mode(), ...facts, ...keys], columns - 1);
    return row === "" ? [] : [this.#options.program.terminal.style.dim(row)];
  }

  #pause(): void {
    this.#pausedAt = Date.now();
    this.#done.add("question", []);
    this.#rows.draw(this.#done.take(this.#surface.columns), [], { row: 0, column: 0 });
    this.#surface.write(this.#modes.off);
  }

  #resume(): void {
    this.#surface.write(this.#modes.on);
    this.#turn?.leaveOut(Date.now() - (this.#pausedAt ?? Date.now()));
    this.#pausedAt = undefined;
    this.#draw();
  }

  #suspend(): void {
    this.#pause();
    this.keyboard.setRawMode(false);
    this.#options.program.host.once("SIGCONT", () => {
      this.keyboard.setRawMode(true);
      this.#resume();
    });
    process.kill(process.pid, "SIGTSTP");
  }

  /** Leaves the terminal as it was, below what was printed. */
  readonly #leave = (): void => {
    clearTimeout(this.#drawTimer);
    this.#rows.draw(this.#done.take(this.#surface.columns), [], { row: 0, column: 0 });
    this.#pausedAt = Date.now();
    this.#surface.write(this.#modes.off);
    removePictures();
  };
}
