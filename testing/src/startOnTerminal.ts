import { spawn, spawnSync } from "node:child_process";
import { constants } from "node:os";
import { onTestFailed } from "vitest";
import { ScreenModel } from "./screenModel.ts";
import { compileCache, countStart } from "./startProgram.ts";

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

/** True if programs can be started on a terminal here, which takes Python. */
export const hasTerminals = (): boolean => process.platform !== "win32" && findPython() !== "";

export interface TerminalOptions {
  cwd: string;
  /** The whole environment, except PATH, TERM and the folder of Node's compile cache. */
  env?: Record<string, string>;
  columns?: number;
  rows?: number;
}

export interface TerminalProgram {
  /** The visible rows, without blank ones at the end. */
  readonly screen: ScreenModel;
  type(keys: string): void;
  resize(columns: number, rows: number): void;
  /** Resolves when the screen shows what is wanted. Rejects when the program ends before. */
  shows(isThere: string | RegExp | ((text: string) => boolean)): Promise<void>;
  /** Types keys, and resolves when the screen shows what they lead to. */
  enter(keys: string, isThere: Parameters<TerminalProgram["shows"]>[0]): Promise<void>;
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
  const { cwd, env = {}, columns = 80, rows = 24 } = options;
  countStart(file, args);
  const words = ["-I", "-S", "-c", helper, `${columns}`, `${rows}`, process.execPath, file, ...args];
  const child = spawn(findPython(), words, {
    cwd,
    env: { PATH: process.env.PATH, TERM: "xterm", ...compileCache, ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.on("error", () => {});
  const order = (value: object): void => void child.stdin.write(`${JSON.stringify(value)}\n`);
  const screen = new ScreenModel(columns, rows);
  const looks = new Set<() => void>();
  let written = Promise.resolve();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    written = screen.write(text).then(() => {
      for (const look of looks) look();
    });
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject).once("close", (code) => void written.then(() => resolve(code)));
  });
  const shows = showsOn(screen, looks, ended);
  return {
    screen,
    ended,
    shows,
    type: (keys) => order({ type: keys }),
    enter(keys, isThere) {
      order({ type: keys });
      return shows(isThere);
    },
    resize(newColumns, newRows) {
      screen.resize(newColumns, newRows);
      order({ columns: newColumns, rows: newRows });
    },
    interrupt: () => order({ signal: constants.signals.SIGINT }),
    kill: () => order({ signal: constants.signals.SIGKILL }),
    hangUp: () => child.stdin.end(),
  };
}

/** Makes `shows` of a program: looks whenever it is told to by one of `looks`. */
export function showsOn(
  screen: ScreenModel,
  looks: Set<() => void>,
  ended: Promise<number | null>,
): TerminalProgram["shows"] {
  return (wanted) =>
    new Promise((resolve, reject) => {
      const isThere = (text: string): boolean =>
        typeof wanted === "function"
          ? wanted(text)
          : typeof wanted === "string"
            ? text.includes(wanted)
            : wanted.test(text);
      const look = (): void => {
        if (!isThere(screen.text)) return;
        looks.delete(look);
        resolve();
      };
      looks.add(look);
      look();
      onTestFailed(() => console.error(`waited for ${wanted} on this screen:\n${screen.text}`));
      const onEnd = (code: number | null): void =>
        reject(new Error(`ended with ${code} without showing ${wanted}:\n${screen.text}`));
      void ended.then(onEnd, reject);
    });
}
