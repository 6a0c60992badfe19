import type { JsonSchema } from "../interface.ts";
import { isPlainObject } from "../json.ts";
import { mapSchemas } from "./schemaParts.ts";

const exampleKeywords = ["default", "example", "examples"];

// No part takes words of choice: what is in no fingerprint could say anything to a model.
const month =
  "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)";
const weekday = "(?:Mon|Tue(?:s)?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?";
const zone = "(?:\\s?(?:Z|UTC|GMT)?(?:[+-]\\d{2}:?\\d{2})?)?(?: \\((?:[A-Z]{2,5}|Coordinated Universal Time)\\))?";
const time = `\\d{1,2}:\\d{2}(?::\\d{2}(?:[.,]\\d{1,9})?)?(?:\\s?[AP]M)?${zone}`;
const date = [
  "\\d{4}[-/.]\\d{1,2}[-/.]\\d{1,2}",
  "\\d{1,2}[-/.]\\d{1,2}[-/.]\\d{4}",
  "\\d{4}-W\\d{2}(?:-\\d)?",
  "\\d{4}-\\d{2}",
  `(?:${weekday},? )?(?:\\d{1,2}[ -]${month}[ -]\\d{4}|${month} \\d{1,2},? (?:${time} )?\\d{4})`,
].join("|");
/** A date, a time or both, as programs write them; seconds or milliseconds since 1970. */
const moment = new RegExp(`^(?:(?:${date})(?:(?:T|,? )${time})?|T?${time}|\\d{8}T\\d{4,6}Z?|1\\d{9}(?:\\d{3})?)$`, "i");

/**
 * Returns a copy of a schema with the type in place of each default or example that is a date, a time or a number: a server may work those
 * out anew at each start, and the tool is still the same.
 */
export function withoutClock(schema: JsonSchema): JsonSchema {
  return mapSchemas(schema, (own) =>
    Object.fromEntries(
      Object.entries(own).map(([keyword, value]) => [
        keyword,
        exampleKeywords.includes(keyword) ? typed(value) : value,
      ]),
    ),
  );
}

/** Returns whether a value is, or holds, a date, a time or a number. */
export function hasClock(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasClock);
  return isPlainObject(value) ? Object.values(value).some(hasClock) : kindOf(value) !== undefined;
}

function typed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(typed);
  if (isPlainObject(value)) return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, typed(part)]));
  const kind = kindOf(value);
  // No value of a schema is written so.
  return kind === undefined ? value : ["toolcrib:by-type", kind];
}

function kindOf(value: unknown): "number" | "moment" | undefined {
  if (typeof value === "number") return "number";
  return typeof value === "string" && value.length <= 100 && moment.test(value.trim()) ? "moment" : undefined;
}
