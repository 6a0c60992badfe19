import type { Command } from "commander";
import type { ExitReason } from "../exitReasons.ts";
import type { Program } from "../program.ts";

/** What the file of a command exports as `define`: adds flags and action to the command. */
export type DefineCommand = (command: Command, action: ToAction) => void;

/** Turns a function that gets the program first, and returns how the command ended, into an action for commander. */
export type ToAction = <Args extends unknown[]>(
  run: (program: Program, ...args: Args) => ExitReason | Promise<ExitReason>,
) => (...args: Args) => Promise<void>;

/** For a flag that may be given again. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/** For a flag that takes names between commas, and may be given again. */
export function collectNames(value: string, before: readonly string[] = []): string[] {
  const names = value.split(",").map((name) => name.trim());
  return [...before, ...names.filter(Boolean)];
}
