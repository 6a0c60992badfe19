import type { JsonSchema } from "@toolcrib/core";
import { nearestName } from "@toolcrib/core";
import { configSchema } from "../configSchema.ts";
import { usageError } from "../exitReasons.ts";
import { settings } from "./settings.ts";

/** Throws a usage error, with the nearest name, for a key that there is not. */
export function requireKey(key: string): void {
  const keys = Object.keys(settings);
  if (Object.hasOwn(settings, key)) return;
  const nearest = nearestName(key, keys);
  throw usageError(
    `config: there is no key ${key}; ${nearest ? `did you mean ${nearest}?` : `the keys are ${keys.join(", ")}`}`,
  );
}

/** The value that words of a command line or a variable stand for, by the schema of the key. It may still break that schema. */
export function parseValue(key: string, words: readonly string[]): unknown {
  const [word = ""] = words;
  const { type } = schemaOf(key);
  if (type === "array") return word.startsWith("[") && words.length === 1 ? (parsed(word) ?? word) : [...words];
  if (words.length > 1) throw usageError(`config: ${key} takes one value; put it in quotes`);
  if (type === "boolean" && /^(?:true|false)$/.test(word)) return word === "true";
  return (type === "integer" || type === "number") && word.trim() !== "" ? (parsed(word) ?? word) : word;
}

function schemaOf(key: string): JsonSchema {
  const schema = key
    .split(".")
    .reduce<JsonSchema>(
      (place, part) => (place.properties as Record<string, JsonSchema> | undefined)?.[part] ?? {},
      configSchema() as JsonSchema,
    );
  return schema;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
