import { type JsonSchema, validateJson } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import { usageError } from "../exitReasons.ts";
import { configSchema } from "../version.ts";
import { type Settings, settings } from "./settings.ts";

/** Reads the value that words of a command line or a variable stand for, by the schema of the key. It may still break that schema. */
export function parseSetting(key: string, words: readonly string[]): unknown {
  const [word = ""] = words;
  const { type } = schemaOf(key);
  if (type === "array") return word.startsWith("[") && words.length === 1 ? (parsed(word) ?? word) : [...words];
  if (words.length > 1) return words.join(" ");
  if (type === "boolean" && /^(?:true|false)$/.test(word)) return word === "true";
  return (type === "integer" || type === "number") && word.trim() !== "" ? (parsed(word) ?? word) : word;
}

/** Names the variable that stands for a key: `TOOLCRIB_MAX_STEPS` for `maxSteps`. */
export function variableName(key: string): string {
  return `TOOLCRIB_${key.replace(/[A-Z]/g, "_$&").replaceAll(".", "_").toUpperCase()}`;
}

/** Reads settings from the environment, except lists. Throws a usage error for a value that the schema refuses. */
export async function settingsFromEnvironment(env: Readonly<Record<string, string | undefined>>): Promise<Settings> {
  const values: Record<string, unknown> = {};
  for (const key of Object.keys(settings)) {
    const variable = variableName(key);
    const text = env[variable];
    if (!text || schemaOf(key).type === "array") continue;
    const value = parseSetting(key, [text]);
    const [issue] = await validateJson(value, schemaOf(key));
    if (issue) throw usageError(`${variable}: ${issue.reason}`);
    values[key] = value;
  }
  return values;
}

/** Flattens `{ sessions: { keepDays: 3 } }` to `sessions.keepDays`, without `$schema`. */
export function flatSettings(value: Readonly<Record<string, unknown>>): Settings {
  const entries = Object.entries(value).flatMap(([key, inner]): [string, unknown][] =>
    isObject(inner)
      ? Object.entries(flatSettings(inner)).map(([name, one]) => [`${key}.${name}`, one])
      : [[key, inner]],
  );
  return Object.fromEntries(entries.filter(([key]) => key !== "$schema"));
}

function schemaOf(key: string): JsonSchema {
  return key.split(".").reduce<JsonSchema>((place, part) => propertiesOf(place)[part] ?? {}, configSchema());
}

function propertiesOf({ properties }: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return (properties ?? {}) as Record<string, JsonSchema>;
}

function parsed(text: string): unknown {
  return attempt(() => JSON.parse(text));
}
