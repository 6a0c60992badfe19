import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from "node:readline";
import { PassThrough, Writable } from "node:stream";
import { type Keyboard, openKeyboard } from "./keyboard.ts";
import type { Terminal } from "./terminal.ts";

/** The lines of a conversation. Lines that nobody waits for yet are kept. */
export interface ChatInput {
  /** The next line; undefined when there will be none. On a terminal the prompt is shown while it waits. */
  next(): Promise<string | undefined>;
  /** The terminal's keys, for a question. */
  readonly keyboard: Keyboard | undefined;
  /** Drops what is typed and not yet sent. */
  clear(): void;
  close(): void;
}

interface Line {
  readonly text: string;
  /** Whether the screen shows it. */
  readonly echoed: boolean;
}

/** Lines in the order in which they came. */
class LineQueue {
  #lines: Line[] = [];
  #ended = false;
  #arrival = Promise.withResolvers<void>();

  get isEmpty(): boolean {
    return this.#lines.length === 0 && !this.#ended;
  }

  push(line: Line): void {
    this.#lines.push(line);
    this.#arrival.resolve();
  }

  end(): void {
    this.#ended = true;
    this.#arrival.resolve();
  }

  async next(): Promise<Line | undefined> {
    while (this.isEmpty) {
      this.#arrival = Promise.withResolvers<void>();
      await this.#arrival.promise;
    }
    return this.#lines.shift();
  }
}

/** `onInterrupt` is called at Ctrl-C, which a terminal that is read key by key gives as a key. */
export function openChatInput(terminal: Terminal, onInterrupt: () => void): ChatInput {
  const onScreen = process.stdin.isTTY && process.stderr.isTTY;
  return onScreen ? new ScreenInput(terminal, onInterrupt) : pipedInput();
}

function pipedInput(): ChatInput {
  const queue = new LineQueue();
  const lines = createInterface({ input: process.stdin, terminal: false });
  lines.on("line", (text) => queue.push({ text, echoed: false }));
  lines.on("close", () => queue.end());
  // Standard input that cannot be read (a directory, say) has no lines.
  process.stdin.on("error", () => queue.end());
  return {
    next: async () => (await queue.next())?.text,
    keyboard: undefined,
    clear: () => {},
    close: () => lines.close(),
  };
}

/** Lets through what readline writes only while the typed line is on the screen. */
class Gate extends Writable {
  readonly isTTY = true;
  open = false;
  readonly #onSwallowed: () => void;

  constructor(onSwallowed: () => void) {
    super({ decodeStrings: false });
    this.#onSwallowed = onSwallowed;
  }

  get columns(): number {
    return process.stderr.columns || 80;
  }

  override _write(text: string, _encoding: string, done: () => void): void {
    if (this.open) process.stderr.write(text);
    else this.#onSwallowed();
    done();
  }
}

/**
 * The line that is typed stays below what is printed. While something is printed it is on the screen only where something was
 * typed, and then whole lines are printed above it.
 */
class ScreenInput implements ChatInput {
  readonly keyboard: Keyboard;
  readonly #queue = new LineQueue();
  readonly #terminal: Terminal;
  readonly #gate: Gate;
  readonly #lines: Interface & { prevRows?: number };
  /** Printed after the last line break while the typed line is on the screen. */
  #held: { text: string; write: (text: string) => void }[] = [];
  /** Whether the last printed line has no line break yet. */
  #midLine = false;
  #waiting = false;
  #paused = false;
  #closed = false;

  constructor(terminal: Terminal, onInterrupt: () => void) {
    this.#terminal = terminal;
    this.keyboard = openKeyboard();
    const keys = Object.assign(new PassThrough(), { setRawMode: (raw: boolean) => this.keyboard.setRawMode(raw) });
    this.keyboard.take((typed) => {
      if (!this.#closed) return void (typed === undefined ? keys.end() : keys.write(typed));
      if (typed?.includes("\u0003")) onInterrupt();
    });
    this.#gate = new Gate(() => setImmediate(() => this.#refresh()));
    this.#lines = createInterface({ input: keys, output: this.#gate, terminal: true, prompt: "> " });
    this.#lines.on("SIGINT", onInterrupt);
    this.#lines.on("line", (text) => this.#take(text));
    this.#lines.on("close", () => this.#end());
    process.stderr.on("resize", this.#onResize);
    const gate = this.#gate;
    terminal.keepBelow({
      get isShown() {
        return gate.open;
      },
      print: (text, write) => this.#print(text, write),
      pause: () => this.#pause(),
      resume: () => this.#resume(),
    });
  }

  async next(): Promise<string | undefined> {
    this.#waiting = this.#queue.isEmpty;
    this.#refresh();
    const line = await this.#queue.next();
    this.#waiting = false;
    this.#hide();
    if (line && !line.echoed) {
      this.#endLine();
      process.stderr.write(`> ${line.text}\n`);
    }
    return line?.text;
  }

  clear(): void {
    this.#lines.write(null, { ctrl: true, name: "e" });
    this.#lines.write(null, { ctrl: true, name: "u" });
  }

  close(): void {
    this.#lines.close();
    this.#terminal.keepBelow(undefined);
    process.stderr.off("resize", this.#onResize);
    this.keyboard.close();
  }

  #take(text: string): void {
    // Readline has ended the row on the screen.
    const echoed = this.#gate.open;
    this.#gate.open = false;
    this.#queue.push({ text, echoed });
    this.#flush();
  }

  #end(): void {
    this.#closed = true;
    if (this.#gate.open) process.stderr.write("\n");
    this.#gate.open = false;
    this.#flush();
    this.#queue.end();
  }

  #print(text: string, write: (text: string) => void): void {
    if (text === "") return;
    if (this.#gate.open) {
      const end = text.lastIndexOf("\n") + 1;
      this.#held.push({ text: text.slice(0, end), write });
      if (end > 0) this.#hide();
      if (end < text.length) this.#held.push({ text: text.slice(end), write });
    } else {
      write(text);
      this.#midLine = !text.endsWith("\n");
    }
    this.#refresh();
  }

  #flush(): void {
    for (const { text, write } of this.#held.splice(0)) {
      if (text === "") continue;
      write(text);
      this.#midLine = !text.endsWith("\n");
    }
  }

  /** Puts the typed line on the screen, or takes it off, as the state asks for. */
  #refresh(): void {
    const isWanted = !this.#paused && !this.#closed && (this.#waiting || this.#lines.line !== "");
    if (this.#gate.open && !isWanted) this.#hide();
    if (this.#gate.open || !isWanted) return;
    // An unfinished line of the answer is not interrupted, except by the prompt.
    if (this.#midLine && !this.#waiting) return;
    this.#terminal.tail("");
    this.#endLine();
    this.#gate.open = true;
    this.#lines.prevRows = 0;
    this.#lines.prompt(true);
  }

  #hide(): void {
    if (this.#gate.open) {
      this.#gate.open = false;
      moveCursor(process.stderr, 0, -this.#lines.getCursorPos().rows);
      cursorTo(process.stderr, 0);
      clearScreenDown(process.stderr);
    }
    this.#flush();
  }

  #endLine(): void {
    if (this.#midLine) process.stderr.write("\n");
    this.#midLine = false;
  }

  #pause(): void {
    this.#paused = true;
    this.#hide();
    this.#endLine();
  }

  #resume(): void {
    this.#paused = false;
    this.#refresh();
  }

  readonly #onResize = (): void => {
    if (!this.#gate.open) return;
    // Terminals wrap rows again: clear no more rows than the typed line takes now, or printed text above it is lost.
    this.#lines.prevRows = Math.min(this.#lines.prevRows ?? 0, this.#lines.getCursorPos().rows);
    this.#gate.emit("resize");
  };
}
