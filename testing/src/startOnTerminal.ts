import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { constants } from "node:os";
import { onTestFailed } from "vitest";
import { ScreenModel } from "./screenModel.ts";
import { compileCache } from "./startProgram.ts";

/**
 * Runs a command on a new pseudo-terminal. Each line of JSON on standard input is text to type, a signal to send, or a new size
 * of the screen.
 */
const helper = `
import fcntl, json, os, pty, select, struct, sys, termios
columns, rows = int(sys.argv[1]), int(sys.argv[2])
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.execvp(sys.argv[3], sys.argv[3:])
pending = b""
inputs = [terminal, 0]
while terminal in inputs:
    ready, _, _ = select.select(inputs, [], [])
    if terminal in ready:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            data = b""
        if not data:
            break
        os.write(1, data)
    if 0 in ready:
        data = os.read(0, 65536)
        if not data:
            os.close(terminal)
            break
        *lines, pending = (pending + data).split(b"\\n")
        for line in lines:
            order = json.loads(line)
            if "type" in order:
                os.write(terminal, order["type"].encode())
            elif "signal" in order:
                os.kill(pid, order["signal"])
            else:
                fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", order["rows"], order["columns"], 0, 0))
status = os.waitpid(pid, 0)[1]
code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
sys.exit(code)
`;

let python: string | undefined;

/** The path of Python itself: the `python3` of a version manager starts a shell first, each time. */
function findPython(): string {
  python ??= spawnSync("python3", ["-c", "import pty, sys; print(sys.executable)"], {
    encoding: "utf8",
  }).stdout?.trim();
  return python ?? "";
}

/** Whether programs can be started on a terminal here, which takes Python. */
export const hasTerminals = (): boolean => process.platform !== "win32" && findPython() !== "";

export interface TerminalOptions {
  cwd: string;
  /** The whole environment, except PATH, TERM and the folder of Node's compile cache. */
  env?: Record<string, string>;
  columns?: number;
  rows?: number;
}

export interface TerminalProgram {
  /** What the user sees, without blank rows at the end. */
  readonly screen: ScreenModel;
  type(keys: string): void;
  resize(columns: number, rows: number): void;
  /** Resolves when the screen shows what is wanted. Rejects when the program ends before. */
  shows(isThere: string | RegExp | ((text: string) => boolean)): Promise<void>;
  /** Sends a signal from outside, not by a key. */
  interrupt(): void;
  /** Ends the program at once, as a crash does. */
  kill(): void;
  /** Closes the terminal, as a user closes the window. */
  hangUp(): void;
  /** Resolves to the exit code. */
  readonly ended: Promise<number | null>;
}

/** Starts a Node script on a terminal of its own, as a user does. */
export function startOnTerminal(file: string, args: readonly string[], options: TerminalOptions): TerminalProgram {
  const { columns = 80, rows = 24 } = options;
  return runOnTerminal(openTerminal([file, ...args], options), new ScreenModel(columns, rows));
}

/** A pseudo-terminal with a Node script on it. */
export interface OpenTerminal {
  readonly child: ChildProcess;
  /** Resolves to the exit code. */
  readonly closed: Promise<number | null>;
  order(value: object): void;
}

/** With `channel` the script gets messages, as one that was forked. */
export function openTerminal(words: readonly string[], options: TerminalOptions, channel = false): OpenTerminal {
  const { cwd, env = {}, columns = 80, rows = 24 } = options;
  const child = spawn(findPython(), ["-I", "-S", "-c", helper, `${columns}`, `${rows}`, process.execPath, ...words], {
    cwd,
    env: { ...environment, ...env },
    stdio: ["pipe", "pipe", "inherit", ...(channel ? ["ipc" as const] : [])],
  });
  child.stdout?.setEncoding("utf8");
  child.stdin?.on("error", () => {});
  return {
    child,
    closed: new Promise((resolve, reject) => child.once("error", reject).once("close", resolve)),
    order: (value) => void child.stdin?.write(`${JSON.stringify(value)}\n`),
  };
}

/** What every program on a terminal has in its environment. */
export const environment = { PATH: process.env.PATH, TERM: "xterm", ...compileCache };

/** A program that prints on the terminal from now on. It ends with the terminal, or before when `endOf` finds its exit code in what it printed. */
export function runOnTerminal(
  { child, closed, order }: OpenTerminal,
  screen: ScreenModel,
  endOf: (screen: ScreenModel) => number | undefined = () => undefined,
): TerminalProgram {
  const waiting = new Set<() => void>();
  let written: Promise<void> | undefined;
  const ended = new Promise<number | null>((resolve, reject) => {
    const print = (text: string): void => {
      written = screen.write(text).then(() => {
        for (const look of waiting) look();
      });
      const code = endOf(screen);
      if (code === undefined) return;
      child.stdout?.off("data", print);
      void written.then(() => resolve(code));
    };
    child.stdout?.on("data", print);
    closed.then((code) => void Promise.resolve(written).then(() => resolve(code)), reject);
  });
  return {
    screen,
    ended,
    type: (keys) => order({ type: keys }),
    resize(newColumns, newRows) {
      screen.resize(newColumns, newRows);
      order({ columns: newColumns, rows: newRows });
    },
    shows: (wanted) =>
      new Promise((resolve, reject) => {
        const isThere = (text: string): boolean =>
          typeof wanted === "function"
            ? wanted(text)
            : typeof wanted === "string"
              ? text.includes(wanted)
              : wanted.test(text);
        const look = (): void => {
          if (!isThere(screen.text)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
        onTestFailed(() => console.error(`waited for ${wanted} on this screen:\n${screen.text}`));
        void ended.then((code) => reject(new Error(`ended with ${code} without showing ${wanted}:\n${screen.text}`)));
      }),
    interrupt: () => order({ signal: constants.signals.SIGINT }),
    kill: () => order({ signal: constants.signals.SIGKILL }),
    hangUp: () => void child.stdin?.end(),
  };
}
