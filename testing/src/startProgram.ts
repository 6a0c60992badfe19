import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { checkEvents } from "./checkEvents.ts";

/** Node's cache of compiled modules, which the runner sets: without it a short program takes half as long again. */
export const compileCache = { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? "" };

export interface ProgramOptions {
  cwd: string;
  /** The whole environment, except PATH and the folder of Node's compile cache. */
  env?: Record<string, string>;
  /** Written to standard input, which is then closed; without it, standard input is empty. `"open"` leaves it open. */
  input?: string;
}

export interface ProgramEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningProgram {
  readonly child: ChildProcess;
  readonly ended: Promise<ProgramEnd>;
  /** Resolves to all that was printed as soon as `text` was, on either stream; rejects when the program ends before. */
  printed(text: string): Promise<string>;
}

/** Adds a line for a process that a test starts to the file that TOOLCRIB_STARTS names. */
export function countStart(file: string, args: readonly string[]): void {
  const list = process.env.TOOLCRIB_STARTS;
  if (list) appendFileSync(list, `${JSON.stringify([file, ...args])}\n`);
}

/** Starts a Node script as a process, as a shell would. What `toolcrib` prints as JSON is checked against its schema. */
export function startProgram(file: string, args: readonly string[], options: ProgramOptions): RunningProgram {
  const { cwd, env = {}, input } = options;
  countStart(file, args);
  const child = spawn(process.execPath, [file, ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...compileCache, ...env },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  const text = { stdout: "", stderr: "" };
  const waiting = new Set<() => void>();
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (chunk: string) => {
      text[name] += chunk;
      for (const look of waiting) look();
    });
  }
  if (input !== undefined && input !== "open") child.stdin?.end(input);
  const ended = new Promise<ProgramEnd>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      try {
        if (file.endsWith("cli/dist/bin.js")) checkEvents(args, text.stdout);
        resolve({ code, ...text });
      } catch (error) {
        reject(error);
      }
    });
  });
  return { child, ended, printed: printedOn(text, waiting, ended) };
}

/** Makes `printed` of a program or a command: looks whenever it is told to by one of `waiting`. */
export function printedOn(
  text: { readonly stdout: string; readonly stderr: string },
  waiting: Set<() => void>,
  ended: Promise<ProgramEnd>,
): (wanted: string) => Promise<string> {
  return (wanted) =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!(text.stdout + text.stderr).includes(wanted)) return;
        waiting.delete(look);
        resolve(text.stdout + text.stderr);
      };
      waiting.add(look);
      look();
      void ended.then((end) => reject(new Error(`ended without printing ${wanted}: ${JSON.stringify(end)}`)), reject);
    });
}
