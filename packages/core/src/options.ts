import { isPlainObject, quote } from "./json.ts";
import { nearestName } from "./names.ts";

/** The rule for the value of an option. */
export interface OptionSpec {
  /** Follows "must be": "a number above 0". */
  readonly expected: string;
  readonly fits: (value: unknown) => boolean;
  /** Follows "leave it out for". Default: "the default". */
  readonly otherwise?: string | undefined;
  /** Advice about this wrong value, in place of "leave it out for …". Default: that. */
  readonly remedy?: (value: unknown) => string | undefined;
  /** Makes undefined an error: always, or only if the option is written out, as a limit was meant then. Default: it counts as left out. */
  readonly needed?: "always" | "if written";
  /** True if a text in its place may be shown, as no secret could be meant. Default: only its kind is shown. */
  readonly isShown?: boolean;
  /** The specs of an option that holds options itself. */
  readonly options?: Readonly<Record<string, true | OptionSpec>>;
}

export interface DefaultedSpec<Value> extends OptionSpec {
  readonly default: Value;
}

/** A spec for every option of `Options`, which the compiler keeps complete; `true` takes any value. */
export type OptionSpecs<Options> = { readonly [Name in keyof Options]-?: true | OptionSpec };

type Defaulted<Specs> = {
  [Name in keyof Specs]: Specs[Name] extends DefaultedSpec<unknown> ? Name : never;
}[keyof Specs];

/** Options as they were given, with the defaults of their specs. */
export type ReadOptions<Options, Specs> = Options & {
  readonly [Name in keyof Options & Defaulted<Specs>]-?: Exclude<Options[Name], undefined>;
};

/**
 * Reads options by their specs. Throws a TypeError unless they are a plain object that holds known names and fitting values only: an
 * option that is misspelt or in the wrong place would otherwise be ignored, and what it guards left open. `owner` is the function
 * that the message names.
 */
export function readOptions<
  Options extends object,
  const Specs extends OptionSpecs<NoInfer<Options>> = OptionSpecs<Options>,
>(owner: string, given: Options, specs: Specs): ReadOptions<Options, Specs> {
  const names = Object.keys(specs);
  if (!isPlainObject(given)) {
    throw new TypeError(
      `${owner}: options must be a plain object with any of ${names.join(", ")}, got ${kindOf(given)}`,
    );
  }
  checkNames(owner, "", given, specs);
  checkValues(owner, given, specs);
  const read: Record<string, unknown> = { ...given };
  for (const [name, spec] of Object.entries<true | OptionSpec>(specs))
    if (spec !== true && "default" in spec) read[name] ??= spec.default;
  return read as ReadOptions<Options, Specs>;
}

type AnySpecs = Readonly<Record<string, true | OptionSpec>>;

function checkNames(owner: string, above: string, given: object, specs: AnySpecs): void {
  const names = Object.keys(specs);
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(specs, name)) continue;
    const near = nearestName(name, names);
    const hint = near === undefined ? "." : `; did you mean ${quote(near)}?`;
    throw new TypeError(`${owner}: unknown option ${quote(above + name)}${hint} Known options: ${names.join(", ")}`);
  }
}

/** Throws a TypeError for the first value that does not fit its spec. For objects that hold more than these options. */
export function checkValues(owner: string, given: object, specs: AnySpecs, above = ""): void {
  for (const [name, spec] of Object.entries(specs)) {
    if (spec === true) continue;
    const value: unknown = Reflect.get(given, name);
    if (value === undefined && spec.needed !== "always" && !(spec.needed === "if written" && name in given)) continue;
    if (!spec.fits(value)) throw new TypeError(`${owner}: ${above}${name} must be ${problemOf(spec, value)}`);
    if (!spec.options || !isPlainObject(value)) continue;
    checkNames(owner, `${above}${name}.`, value, spec.options);
    checkValues(owner, value, spec.options, `${above}${name}.`);
  }
}

function problemOf(
  { expected, remedy, needed, otherwise = "the default", isShown = false }: OptionSpec,
  value: unknown,
) {
  const instead = remedy?.(value) ?? (needed === "always" ? undefined : `leave it out for ${otherwise}`);
  const received = isShown ? shownValue(value) : kindOrNumber(value);
  return `${expected}, received ${received}${instead === undefined ? "" : `; ${instead}`}`;
}

const isText = (value: unknown): boolean => typeof value === "string";
const isPositive = (value: unknown): boolean => typeof value === "number" && value > 0;

type Kind =
  | ("text" | "name" | "texts" | "flag" | "call" | "object" | "plain" | "signal")
  | ("positive" | "whole" | "milliseconds" | "bytes");

interface Kinds extends Readonly<Record<Kind, OptionSpec>> {
  /** Returns an option that is one of these texts. */
  oneOf(...values: readonly string[]): OptionSpec;
  /** Returns an option that is an object with these functions. */
  withMethods(...methods: readonly string[]): OptionSpec;
  /** Returns an option that holds options itself. */
  group<Options>(options: OptionSpecs<Options>): OptionSpec;
}

const plain: OptionSpec = { expected: "a plain object", fits: isPlainObject };

/** The usual kinds of options. */
export const option: Kinds = {
  text: { expected: "a string", fits: isText },
  name: { expected: "a non-empty string", fits: (value) => isText(value) && value !== "" },
  texts: {
    expected: "an array of strings",
    fits: (value) => Array.isArray(value) && value.every(isText),
    otherwise: "none",
  },
  flag: { expected: "true or false", fits: (value) => typeof value === "boolean" },
  call: { expected: "a function", fits: (value) => typeof value === "function", otherwise: "none" },
  object: { expected: "an object", fits: (value) => typeof value === "object" && value !== null },
  plain,
  positive: { expected: "a number above 0", fits: isPositive, isShown: true },
  whole: {
    expected: "a whole number above 0",
    fits: (value) => Number.isSafeInteger(value) && isPositive(value),
    isShown: true,
  },
  milliseconds: { expected: "a number of milliseconds above 0", fits: isPositive, isShown: true },
  bytes: {
    expected: "a number of bytes of at least 1, or Infinity for no limit",
    fits: (value) => typeof value === "number" && value >= 1,
    isShown: true,
  },
  signal: { ...withMethods("addEventListener", "throwIfAborted"), expected: "an AbortSignal" },
  oneOf: (...values) => ({
    expected: `one of ${values.join(", ")}`,
    fits: (value) => values.some((one) => one === value),
    isShown: true,
  }),
  withMethods,
  group: (options) => ({ ...plain, options, otherwise: "none" }),
};

function withMethods(...methods: readonly string[]): OptionSpec {
  const fits = (value: unknown): boolean =>
    typeof value === "object" &&
    value !== null &&
    methods.every((name) => typeof Reflect.get(value, name) === "function");
  return { expected: `an object with ${methods.join(" and ")}`, fits, otherwise: "none" };
}

/** Returns the same spec of an option that has a default. */
export function withDefault<Value>(spec: OptionSpec, value: Value): DefaultedSpec<Value> {
  return { ...spec, default: value, otherwise: spec.otherwise ?? shownValue(value) };
}

/** Throws a TypeError for a name that is not known but near to a known one; others are ignored. For objects that hold more than options. */
export function checkSpelling<Options extends object>(
  owner: string,
  options: Options,
  known: OptionSpecs<NoInfer<Options>>,
): void {
  // Unlike Object.keys, it makes no list for every call of a tool.
  for (const name in options) {
    if (Object.hasOwn(known, name) || !Object.hasOwn(options, name)) continue;
    const near = nearestName(name, Object.keys(known));
    if (near !== undefined && !Object.hasOwn(options, near)) {
      throw new TypeError(`${owner}: unknown option ${quote(name)}; did you mean ${quote(near)}?`);
    }
  }
}

/** Returns a value as an error shows it: short, and of an object only its kind. */
function shownValue(value: unknown): string {
  return typeof value === "string" ? quote(value) : kindOrNumber(value);
}

function kindOrNumber(value: unknown): string {
  return typeof value === "number" || typeof value === "boolean" ? String(value) : kindOf(value);
}

/** Returns the kind of a value, without its content: `null`, `a string`, `an empty array`, `an instance of URL`. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) {
    const other: unknown = value.find((item) => typeof item !== "string");
    if (value.length === 0) return "an empty array";
    return value.every(isText)
      ? "an array"
      : `an array that holds ${Array.isArray(other) ? "an array" : kindOf(other)}`;
  }
  if (typeof value !== "object") return `a ${typeof value}`;
  if (isPlainObject(value)) return "an object";
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name;
  return typeof name === "string" && name !== "" ? `an instance of ${name}` : "an object";
}
