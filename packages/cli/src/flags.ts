import { longestDelayMs } from "@toolcrib/core/internal";
import { type Command, Option } from "commander";
import { usageError } from "./exitReasons.ts";

/** A flag of a command, under its name in camel case. */
interface Flag {
  /** As help shows it: `-m, --model <provider/model>`. */
  readonly usage: string;
  readonly about: string;
  /** The reader of its value, or the words that it can be. Default: as it is. */
  readonly value?: keyof Values | readonly string[];
}

/** The flags of a command, declared once: their types, their help and how they are read come from here. */
export type Flags = Readonly<Record<string, Flag>>;

/** The type that a value becomes. Lists grow when the flag is given again. */
interface Values {
  readonly list: readonly string[];
  readonly names: readonly string[];
  readonly rules: readonly string[];
  readonly count: number;
  /** Milliseconds of `90s` or `5m`. */
  readonly duration: number;
  readonly dollars: number;
}

type ValueOf<Declared extends Flag> = Declared["value"] extends readonly (infer Choice)[]
  ? Choice
  : Declared["value"] extends keyof Values
    ? Values[Declared["value"]]
    : Declared["usage"] extends `${string}[${string}`
      ? string | true
      : Declared["usage"] extends `${string}<${string}`
        ? string
        : boolean;

/** The values of declared flags. `--no-x` is false for `x`. */
export type FlagsOf<Declared extends Flags> = {
  readonly [Key in keyof Declared & string as Key extends `no${infer Name}` ? Uncapitalize<Name> : Key]?:
    | ValueOf<Declared[Key]>
    | undefined;
};

/** `before` is what the flag held before, of one that may be given again. */
type Reader<Value> = (word: string, before: readonly string[], flag: string) => Value;

const readers: { readonly [Key in keyof Values]: Reader<Values[Key]> } = {
  list: (word, before) => [...before, word],
  names(word, before) {
    const names = word.split(",").map((name) => name.trim());
    return [...before, ...names.filter(Boolean)];
  },
  rules(word, before, flag) {
    // The next flag, where the rule was left out: it could be a name.
    if (word.startsWith("-")) throw usageError(`${flag} ${word.slice(0, 80)}: ${flag} takes a rule; ${ruleAdvice}`);
    return [...before, word];
  },
  count(word, _before, flag) {
    if (/^[1-9]\d{0,8}$/.test(word)) return Number(word);
    throw usageError(`${flag} ${word}: expected a whole number above 0`);
  },
  duration: (word, _before, flag) => readDuration(word, flag),
  dollars(word, _before, flag) {
    if (/^\d{1,9}(?:\.\d+)?$/.test(word) && Number(word) > 0) return Number(word);
    throw usageError(`${flag} ${word}: expected dollars above 0, such as 0.50`);
  },
};

/** Reads `90s` or `5m` as milliseconds. Throws a usage error that begins with `what`. */
export function readDuration(word: string, what: string): number {
  const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(word) ?? [];
  const ms = Number(amount) * (units[unit] ?? Number.NaN);
  if (ms >= 1 && ms <= longestDelayMs) return ms;
  throw usageError(`${what} ${word}: expected a number with a unit, such as 90s, 5m or 2h, at most 596h`);
}

/** For a rule of permissions that is missing, or is none. */
export const ruleAdvice = "such as 'run_bash(git push *)'; to be asked before each change, use --mode ask";

/** Adds declared flags to a command, each under the heading that holds it. */
export function addFlags(command: Command, flags: Flags, headings: readonly (readonly [string, object])[]): void {
  for (const [name, { usage, about, value }] of Object.entries(flags)) {
    const option = new Option(usage, about);
    const [heading] = headings.find(([, held]) => name in held) ?? [];
    if (heading !== undefined) option.helpGroup(`${heading}:`);
    if (typeof value === "object") option.choices([...value]);
    else if (value !== undefined)
      option.argParser<unknown>((word, before) =>
        readers[value](word, Array.isArray(before) ? before : [], option.long ?? usage),
      );
    command.addOption(option);
  }
}
