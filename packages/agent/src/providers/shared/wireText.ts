import { isLegalName, withLegalCharacters } from "@toolcrib/core/internal";

/** Returns a copy of JSON data with every string (keys too) well formed: no wire carries lone surrogates. */
export function wellFormedJson<T>(value: T): T;
export function wellFormedJson(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map((item) => wellFormedJson(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key.toWellFormed(), wellFormedJson(entry)]));
}

/** Returns the arguments of a call as the JSON text that chat completions and Responses carry. */
export function argumentsText(args: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(wellFormedJson(args));
}

/** Returns a call id that every wire accepts; the same id always gives the same one. */
export function wireId(id: string): string {
  if (isLegalName(id)) return id;
  // Not imported: node:crypto takes 8 ms to load, and few ids are not legal.
  const { createHash } = process.getBuiltinModule("node:crypto");
  const digest = createHash("sha256").update(id).digest("hex").slice(0, 12);
  return `${withLegalCharacters(id).slice(0, 48)}_${digest}`;
}

/** Returns a tool name that every wire accepts; a name a registry accepted is left as it is. */
export function wireName(name: string): string {
  return withLegalCharacters(name).slice(0, 64) || "unknown";
}
