import { isPlainObject, quote } from "./json.ts";
import { nearestName } from "./names.ts";

/** The name of every option of `Options`; the compiler keeps the list complete. */
export type KnownOptions<Options> = { readonly [Name in keyof Options]-?: true };

/**
 * Throws a TypeError unless `options` is a plain object that holds known names only: an option that is misspelt or in the
 * wrong place would otherwise be ignored, and what it guards left open. `owner` is the function that the message names.
 */
export function checkOptions<Options extends object>(
  owner: string,
  options: Options,
  known: KnownOptions<NoInfer<Options>>,
): void {
  const names = Object.keys(known);
  if (!isPlainObject(options)) {
    throw new TypeError(
      `${owner}: options must be a plain object with any of ${names.join(", ")}, got ${kindOf(options)}`,
    );
  }
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name)) continue;
    const near = nearestName(name, names);
    const hint = near === undefined ? "." : `; did you mean ${quote(near)}?`;
    throw new TypeError(`${owner}: unknown option ${quote(name)}${hint} Known options: ${names.join(", ")}`);
  }
}

/**
 * Throws a TypeError for a name that is not known but near to a known one; any other is left alone. For objects that may
 * carry more than options.
 */
export function checkSpelling<Options extends object>(
  owner: string,
  options: Options,
  known: KnownOptions<NoInfer<Options>>,
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

/** The kind of a value, without its content: `null`, `a string`, `an array`, `an instance of URL`. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value !== "object") return `a ${typeof value}`;
  if (isPlainObject(value)) return "an object";
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name;
  return typeof name === "string" && name !== "" ? `an instance of ${name}` : "an object";
}
