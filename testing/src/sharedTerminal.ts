import { PassThrough, Writable } from "node:stream";
import { CommandHost, environment } from "./commandHost.ts";
import { ScreenModel } from "./screenModel.ts";
import { showsOn, type TerminalOptions, type TerminalProgram } from "./startOnTerminal.ts";

type Start = (args: readonly string[], options: TerminalOptions) => Omit<TerminalProgram, "kill">;

/**
 * The toolcrib command on terminals that are modelled in this process, called from its sources. What the terminal of a system does
 * beyond that, and a crash, take `startOnTerminal`.
 */
export function sharedTerminal(bin: string): Start {
  return (args, { cwd, env = {}, columns = 80, rows = 24 }) => {
    const screen = new ScreenModel(columns, rows);
    const output = new TerminalOutput(screen, columns, rows);
    const host: CommandHost = new CommandHost({
      stdin: new TerminalInput(output, () => host.emit("SIGINT")),
      stdout: output,
      stderr: output,
      cwd,
      env: { ...environment, TERM: "xterm", ...env },
    });
    const stdin = host.stdin as TerminalInput;
    const ended = host.run(bin, args).then(async (code) => {
      await output.written;
      return code;
    });
    const shows = showsOn(screen, output.looks, ended);
    return {
      screen,
      ended,
      shows,
      type: (keys) => stdin.type(keys),
      enter(keys, isThere) {
        stdin.type(keys);
        return shows(isThere);
      },
      resize(newColumns, newRows) {
        screen.resize(newColumns, newRows);
        Object.assign(output, { columns: newColumns, rows: newRows });
        output.emit("resize");
      },
      interrupt: () => void host.emit("SIGINT"),
      hangUp() {
        host.emit("SIGHUP");
        stdin.end();
      },
    };
  };
}

/** The screen: what is written to it ends its lines as a terminal does. */
class TerminalOutput extends Writable {
  readonly isTTY = true;
  readonly looks: Set<() => void> = new Set();
  columns: number;
  rows: number;
  /** Resolves when all of it is on the screen. */
  written: Promise<void> = Promise.resolve();
  readonly #screen: ScreenModel;

  constructor(screen: ScreenModel, columns: number, rows: number) {
    super({ decodeStrings: false });
    this.#screen = screen;
    this.columns = columns;
    this.rows = rows;
  }

  override _write(text: string | Buffer, _encoding: string, done: () => void): void {
    this.written = this.#screen.write(String(text).replaceAll("\n", "\r\n")).then(() => {
      for (const look of this.looks) look();
    });
    done();
  }
}

const ctrlC = "\u0003";
const ctrlD = "\u0004";
const ctrlU = "\u0015";

/** The keys: as they are in raw mode; else edited and echoed by the terminal, line by line. */
class TerminalInput extends PassThrough {
  readonly isTTY = true;
  #isRaw = false;
  #line = "";
  readonly #output: TerminalOutput;
  readonly #onInterrupt: () => void;

  constructor(output: TerminalOutput, onInterrupt: () => void) {
    super();
    this.#output = output;
    this.#onInterrupt = onInterrupt;
  }

  setRawMode(isRaw: boolean): this {
    this.#isRaw = isRaw;
    // What is typed of a line can be read now.
    if (isRaw) this.#take();
    return this;
  }

  type(keys: string): void {
    if (this.#isRaw) this.write(keys);
    else for (const key of keys) this.#edit(key === "\r" ? "\n" : key);
  }

  #edit(key: string): void {
    if (key === ctrlC) {
      this.#line = "";
      this.#output.write("^C");
      this.#onInterrupt();
    } else if (key === ctrlD) {
      if (this.#line === "") this.end();
      else this.#take();
    } else if (key === ctrlU || key === "\u007f") {
      const kept = key === ctrlU ? "" : this.#line.slice(0, -1);
      this.#output.write("\b \b".repeat(this.#line.length - kept.length));
      this.#line = kept;
    } else {
      this.#line += key;
      this.#output.write(key === "\u001b" ? "^[" : key);
      if (key === "\n") this.#take();
    }
  }

  #take(): void {
    if (this.#line !== "") this.write(this.#line);
    this.#line = "";
  }
}
