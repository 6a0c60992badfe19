import { type RunningCommand, startCommand } from "./commandHost.ts";
import { type ProgramEnd, type ProgramOptions, startProgram } from "./startProgram.ts";

interface Command {
  (args: readonly string[], options: ProgramOptions): Promise<ProgramEnd>;
  /** Does not wait for its end. */
  start(args: readonly string[], options: ProgramOptions): RunningCommand;
}

/**
 * The toolcrib command whose built file is `bin`, called from its sources in this process: its start is most of what a call costs. Where
 * options of Node are given, it is a process of its own. Use `startProgram` for what only a process has: pipes that break, a crash.
 */
export function sharedCommand(bin: string): Command {
  let before: Promise<unknown> = Promise.resolve();
  const run = (args: readonly string[], options: ProgramOptions): Promise<ProgramEnd> => {
    if ("NODE_OPTIONS" in (options.env ?? {})) return startProgram(bin, args, options).ended;
    // One after the other: what packages read of the process is that of one command.
    const running = before.then(() => startCommand(bin, args, options).ended);
    before = running.catch(() => {});
    return running;
  };
  return Object.assign(run, {
    start: (args: readonly string[], options: ProgramOptions) => startCommand(bin, args, options),
  });
}
