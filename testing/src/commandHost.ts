import { EventEmitter } from "node:events";
import { openSync } from "node:fs";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { StringDecoder } from "node:string_decoder";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished } from "vitest";
import { checkEvents } from "./checkEvents.ts";
import { compileCache, type ProgramEnd, type ProgramOptions, printedOn } from "./startProgram.ts";

/** Takes the words, and what stands for `process`. */
type Main = (args: readonly string[], host: CommandHost) => Promise<number>;

/** The streams of a command, and the folder and the variables that it is called in. */
interface HostParts {
  readonly cwd: string;
  readonly env: Record<string, string | undefined>;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** Stands for the `process` of a command that runs in this one. Signals are its events. */
export class CommandHost extends EventEmitter {
  readonly env: Record<string, string | undefined>;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly folder: string;
  readonly #exited = Promise.withResolvers<number>();

  constructor({ cwd, env, stdin, stdout, stderr }: HostParts) {
    super();
    this.folder = cwd;
    this.env = { ...env };
    this.stdin = stdin;
    this.stdout = stdout;
    this.stderr = stderr;
  }

  cwd(): string {
    return this.folder;
  }

  exit(code: number): void {
    this.emit("exit");
    this.#exited.resolve(code);
  }

  /** Calls `main` of the sources of `bin`; resolves to the exit code. As in a process, nothing waits for what still runs after `exit`. */
  async run(bin: string, args: readonly string[]): Promise<number> {
    const { main } = (await import(new URL("../src/main.ts", pathToFileURL(bin)).href)) as { main: Main };
    enter(this);
    endWithTest(() => this.exit(1));
    try {
      return await Promise.race([main(args, this), this.#exited.promise]);
    } finally {
      leave(this);
      this.stdin.destroy();
    }
  }
}

/** Ends what a failed test left running, so that the next one need not wait. */
function endWithTest(end: () => void): void {
  if (expect.getState().currentTestName !== undefined) onTestFinished(end);
}

const outside = { folder: process.cwd(), env: { ...process.env } };
const inside: CommandHost[] = [];

/** Sets what the packages read from `process` itself to that of the command that was called last. */
function enter(host: CommandHost): void {
  inside.push(host);
  takeOver(host);
}

function leave(host: CommandHost): void {
  inside.splice(inside.indexOf(host), 1);
  takeOver(inside.at(-1) ?? outside);
}

function takeOver({ folder, env }: Pick<CommandHost, "folder" | "env">): void {
  process.chdir(folder);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  for (const [name, value] of Object.entries(env)) if (process.env[name] !== value) process.env[name] = value;
}

/** A command that runs in this process. */
export interface RunningCommand {
  /** Its standard input. */
  readonly stdin: PassThrough;
  readonly stdout: PassThrough;
  readonly ended: Promise<ProgramEnd>;
  /** Resolves to all that was printed as soon as `text` was, on either stream; rejects when the command ends before. */
  printed(text: string): Promise<string>;
  /** Returns whether the command listens for it. */
  signal(name: "SIGINT" | "SIGTERM" | "SIGHUP"): boolean;
}

/** Calls the command in this process, in its folder, with its environment and its streams. */
export function startCommand(bin: string, args: readonly string[], options: ProgramOptions): RunningCommand {
  const { cwd, env = {}, input } = options;
  const stdin = new PassThrough();
  if (input !== "open") stdin.end(input ?? "");
  const text = { stdout: "", stderr: "" };
  const waiting = new Set<() => void>();
  const keep = (name: "stdout" | "stderr"): PassThrough => {
    const decoder = new StringDecoder("utf8");
    const stream = new PassThrough();
    stream.on("error", () => {});
    return stream.on("data", (chunk: Buffer) => {
      text[name] += decoder.write(chunk);
      for (const look of waiting) look();
    });
  };
  const [stdout, stderr] = [keep("stdout"), keep("stderr")];
  if (input === undefined) Object.assign(stdin, { fd: nothing() });
  const host = new CommandHost({ stdin, stdout, stderr, cwd, env: { ...environment, ...env } });
  const ended = host.run(bin, args).then(async (code) => {
    // A reader may be gone.
    await Promise.allSettled([stdout, stderr].map((stream) => finished(stream.end())));
    checkEvents(args, text.stdout);
    return { code, ...text };
  });
  return { stdin, stdout, ended, printed: printedOn(text, waiting, ended), signal: (name) => host.emit(name) };
}

/** The environment of every command. */
export const environment = { PATH: process.env.PATH, ...compileCache };

let opened: number | undefined;

/** The descriptor of a standard input that is nothing. */
function nothing(): number {
  opened ??= openSync("/dev/null", "r");
  return opened;
}
