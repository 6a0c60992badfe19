import type { JsonSchema } from "@toolcrib/core";
import { clip } from "@toolcrib/core/text";
import { usageError } from "../exitReasons.ts";

/**
 * Reads the arguments of a tool from words of a command line: `--name value`, `--name=value`, `--flag`; an array takes every word
 * up to the next name, or the name again. Values stay text: the registry repairs them by the schema. Throws a usage error.
 */
export function parseToolArguments(
  words: readonly string[],
  tool: string,
  parameters: JsonSchema,
): Record<string, unknown> {
  const properties = (parameters.properties ?? {}) as Record<string, JsonSchema>;
  const args: Record<string, unknown> = {};
  for (let index = 0; index < words.length; ) {
    const word = words[index] ?? "";
    const [, flag = "", inline] = /^--([^=]+)(?:=([\s\S]*))?$/.exec(word) ?? [];
    if (!flag)
      throw usageError(
        `unexpected ${JSON.stringify(clip(word))}: pass arguments of ${tool} as --name value${namesOf(properties)}, or as one JSON object`,
      );
    index += 1;
    const name = propertyOf(flag, properties);
    const type = properties[name]?.type;
    const values = inline === undefined ? [] : [inline];
    if (inline === undefined) {
      while (index < words.length && !isFlag(words[index]) && (values.length === 0 || type === "array")) {
        if (type === "boolean" && !/^(?:true|false)$/i.test(words[index] ?? "")) break;
        values.push(words[index] ?? "");
        index += 1;
      }
    }
    if (values.length === 0) values.push(valueless(name, type));
    assign(args, name, values, type);
  }
  return args;
}

function isFlag(word: string | undefined): boolean {
  return word?.startsWith("--") ?? false;
}

/** Finds the property of a flag: `--case-sensitive` is `case_sensitive`. */
function propertyOf(flag: string, properties: Record<string, JsonSchema>): string {
  const snake = flag.replaceAll("-", "_");
  return !Object.hasOwn(properties, flag) && Object.hasOwn(properties, snake) ? snake : flag;
}

function valueless(name: string, type: unknown): string {
  if (type === "boolean" || type === undefined) return "true";
  throw usageError(`--${name} needs a value; write --${name}=VALUE where the value begins with --`);
}

function assign(args: Record<string, unknown>, name: string, values: string[], type: unknown): void {
  const before = Object.hasOwn(args, name) ? args[name] : undefined;
  let value: unknown = values.length === 1 ? values[0] : values;
  if (type === "array" && before !== undefined) value = [before, value].flat();
  else if (type === "array" && values.length === 1 && !values[0]?.trimStart().startsWith("[")) value = values;
  else if (before !== undefined) throw usageError(`--${name} is given twice, but it takes one value`);
  // Not plain assignment: `--__proto__` is a name like any other.
  Object.defineProperty(args, name, { value, enumerable: true, configurable: true, writable: true });
}

function namesOf(properties: Record<string, JsonSchema>): string {
  const names = Object.keys(properties);
  return names.length === 0 ? "" : ` (${names.map((name) => `--${name}`).join(", ")})`;
}
