import type { Command } from "commander";
import type { ExitReason } from "../exitReasons.ts";
import type { Program } from "../program.ts";

/** What the file of a command exports as `define`: adds flags and action to the command. */
export type DefineCommand = (command: Command, action: ToAction) => void;

/** Turns a function that gets the program first, and returns how the command ended, into an action for commander. */
export type ToAction = <Args extends unknown[]>(
  run: (program: Program, ...args: Args) => ExitReason | Promise<ExitReason>,
) => (...args: Args) => Promise<void>;

/** Adds flags and arguments to a command before it is used, for its completion. */
export const flagLoaders: WeakMap<Command, () => Promise<void>> = new WeakMap();
