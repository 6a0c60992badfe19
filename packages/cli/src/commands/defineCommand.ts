import type { Command } from "commander";
import type { ExitReason } from "../exitReasons.ts";
import { addFlags, type Flags, type FlagsOf } from "../flags.ts";
import type { Program } from "../program.ts";
import { flagHeadings } from "../sharedFlags.ts";

/** The export of a command's file: adds its flags, its arguments and its code to the command. `act` starts the program first. */
export type DefineCommand = (command: Command, act: Act) => void;

export type Act = (run: (program: Program) => ExitReason | Promise<ExitReason>) => Promise<void>;

/** The value of an argument, by its usage: `<name>`, `[name]`, `[words...]`. */
type ArgumentOf<Usage> = Usage extends `${string}...${string}`
  ? readonly string[]
  : Usage extends `<${string}`
    ? string
    : string | undefined;

type ArgumentsOf<Usages extends readonly (readonly [usage: string, about: string])[]> = {
  readonly [Index in keyof Usages]: ArgumentOf<Usages[Index][0]>;
};

interface CommandParts<Declared extends Flags, Usages extends readonly (readonly [string, string])[]> {
  /** A flag `help` replaces commander's own. */
  readonly flags?: Declared;
  readonly arguments?: Usages;
  /** In place of what help makes of flags and arguments. */
  readonly usage?: string;
  /** Below the flags in help. */
  readonly more?: string;
  /** True if words that look like flags are arguments; with `passThrough`, all words behind the first argument. */
  readonly takesAnyFlag?: boolean;
  readonly passThrough?: boolean;
  run(
    program: Program,
    flags: FlagsOf<Declared>,
    args: ArgumentsOf<Usages>,
    command: Command,
  ): ExitReason | Promise<ExitReason>;
}

/** Defines a command of which each flag and argument is declared once. */
export function defineCommand<
  const Declared extends Flags,
  const Usages extends readonly (readonly [string, string])[] = [],
>(parts: CommandParts<Declared, Usages>): DefineCommand {
  return (command, act) => {
    for (const [usage, about] of parts.arguments ?? []) command.argument(usage, about);
    if (parts.flags && "help" in parts.flags) command.helpOption(false);
    addFlags(command, parts.flags ?? {}, flagHeadings);
    if (parts.usage !== undefined) command.usage(parts.usage);
    if (parts.more !== undefined) command.addHelpText("after", parts.more);
    if (parts.takesAnyFlag) command.allowUnknownOption();
    if (parts.passThrough) command.passThroughOptions();
    command.action(() =>
      act((program) => parts.run(program, command.opts(), command.processedArgs as ArgumentsOf<Usages>, command)),
    );
  };
}

/** Adds flags and arguments to a command before it is used, for its completion. */
export const flagLoaders: WeakMap<Command, () => Promise<void>> = new WeakMap();
