import { isObject } from "../isObject.ts";
import type { Problems } from "./checks.ts";
import { checkNoRecursion, innerSchemas } from "./schemaForm.ts";

const formats = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

const common = [
  ...["type", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "const", "$ref", "$defs"],
  ...["title", "description", "format"],
];
/** The keywords that the services take in strict mode. */
const keywords: Readonly<Record<"openai" | "anthropic", readonly string[]>> = {
  openai: [
    ...common,
    ...["pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems"],
  ],
  anthropic: [...common, "allOf", "minItems"],
};

/** OpenAI's limits for one schema. */
const mostProperties = 5000;
const mostLevels = 10;
const mostCharacters = 120_000;
const mostValues = 1000;

/** Checks a schema that is sent with `strict: true`. */
export function checkStrictForm(problems: Problems, schema: unknown, wire: string): void {
  if (wire !== "messages") checkOpenAI(problems, schema);
  if (wire !== "responses") checkAnthropic(problems, schema);
}

function checkClosed(problems: Problems, schema: unknown, service: "openai" | "anthropic"): void {
  for (const { at, own } of innerSchemas(schema)) {
    for (const keyword of Object.keys(own))
      problems.expect(keywords[service].includes(keyword), `${at}: '${keyword}' is not permitted (strict)`);
    const isTyped = ["type", "anyOf", "allOf", "$ref", "enum", "const"].some((keyword) => keyword in own);
    problems.expect(isTyped, `${at}: schema must have a 'type' key (strict)`);
    if (own.type === "object" || "properties" in own)
      problems.expect(own.additionalProperties === false, `${at}: 'additionalProperties' must be false (strict)`);
    problems.expect(
      own.format === undefined ||
        formats.includes(String(own.format)) ||
        (service === "anthropic" && own.format === "uri"),
      `${at}: '${String(own.format)}' is not a valid format (strict)`,
    );
  }
}

function checkOpenAI(problems: Problems, schema: unknown): void {
  checkClosed(problems, schema, "openai");
  let [properties, characters, values] = [0, 0, 0];
  for (const { at, own } of innerSchemas(schema)) {
    const names = Object.keys(isObject(own.properties) ? own.properties : {});
    const required: readonly unknown[] = Array.isArray(own.required) ? own.required : [];
    for (const name of names)
      problems.expect(required.includes(name), `${at}: 'required' is required to include every key. Missing '${name}'`);
    const listed: readonly unknown[] = Array.isArray(own.enum) ? own.enum : [];
    properties += names.length;
    values += listed.length;
    characters += [...names, ...listed, own.const ?? ""].join("").length;
    problems.expect(at.split(/\/(?:properties|items)\//).length <= mostLevels + 1, `${at}: nested too deeply (strict)`);
  }
  problems.expect(properties <= mostProperties, `${properties} properties (strict)`);
  problems.expect(characters <= mostCharacters, `${characters} characters of names and values (strict)`);
  problems.expect(values <= mostValues, `${values} enum values (strict)`);
}

function checkAnthropic(problems: Problems, schema: unknown): void {
  checkClosed(problems, schema, "anthropic");
  checkNoRecursion(problems, schema);
  for (const { at, own } of innerSchemas(schema)) {
    problems.expect(!(Number(own.minItems) > 1), `${at}: minItems above 1 (strict)`);
    const data = [own.const, ...(Array.isArray(own.enum) ? own.enum : [])];
    problems.expect(
      data.every((value) => typeof value !== "object" || value === null),
      `${at}: enum of objects (strict)`,
    );
  }
}
