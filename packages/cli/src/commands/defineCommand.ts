import type { Command } from "commander";
import type { ExitReason } from "../exitReasons.ts";
import type { Program } from "../program.ts";

/** What each file of a command exports: adds its flags and its action. */
export type DefineCommand = (command: Command, action: ToAction) => void;

/** Makes an action for commander of one that gets the program first and answers how it ended. */
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
