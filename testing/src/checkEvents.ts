import { readFileSync } from "node:fs";
import { type Schema, Validator } from "@cfworker/json-schema";

const file = new URL("../../packages/cli/events.schema.json", import.meta.url);
let validator: Validator | undefined;

/**
 * Throws where the command has printed JSON that its published schema does not describe, down to fields that it does not name. Takes
 * what `toolcrib` was started with, and all of its standard output.
 */
export function checkEvents(args: readonly string[], stdout: string): void {
  if (!args.some((arg) => /^(?:--output-format=)?(?:--json|json|stream-json)$/.test(arg))) return;
  const isRun = args[0] === "run" || args[0] === "-p";
  // What was cut off by the end of the program is no event.
  const lines = stdout.split("\n").slice(0, -1);
  for (const line of isRun ? lines : lines.filter((line) => line.startsWith('{"type":"error"'))) {
    validator ??= new Validator(strict(JSON.parse(readFileSync(file, "utf8"))) as Schema, "2020-12", false);
    const { errors } = validator.validate(JSON.parse(line));
    if (errors.length > 0) throw new Error(`not as events.schema.json says: ${line}\n${JSON.stringify(errors)}`);
  }
}

/** The schema without room for other fields, which readers must leave. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  if (typeof schema !== "object" || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, strict(value)]));
  return "required" in schema && "properties" in schema ? { ...inner, additionalProperties: false } : inner;
}
