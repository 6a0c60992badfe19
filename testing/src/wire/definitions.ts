// Reasons for which the services refuse a tool definition, and with it the whole request. Where sources differ the stricter word counts.
// The packages have rules of their own: these must not be made from them.
import { isObject } from "../isObject.ts";
import { type Fields, Problems } from "./checks.ts";
import { checkForm, checkNoRecursion, innerSchemas } from "./schemaForm.ts";
import { checkStrictForm } from "./strictForm.ts";

/** `llama.cpp` takes definitions of chat completions (so do Ollama and LM Studio). `any`: a definition that may go to any of them. */
export type DefinitionWire = "responses" | "chat" | "messages" | "gemini" | "llama.cpp" | "any";

/** The most tools of a request in chat completions. */
const mostChatTools = 128;

/**
 * Returns why a service refuses a definition, in the shape of its wire: `{ type, name, parameters, strict }` (responses),
 * `{ type, function }` (chat, llama.cpp), `{ name, input_schema }` (messages), `{ name, parametersJsonSchema }` (gemini). For `any`:
 * `{ name, description, parameters, strict? }`.
 */
export function definitionProblems(wire: DefinitionWire, definition: unknown): readonly string[] {
  const problems = new Problems();
  const tool = readTool(problems, wire, definition);
  if (!tool) return problems.list;
  const { name, description, schema, isStrict } = tool;
  const legal = wire === "gemini" ? /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/ : /^[a-zA-Z0-9_-]{1,64}$/;
  problems.expect(typeof name === "string" && legal.test(name), `the name ${JSON.stringify(name)} is illegal`);
  problems.expect(typeof description === "string" && description !== "", "there is no description");
  if (wire === "chat") problems.expect(String(description).length <= 1024, "description: above 1024 characters");
  if (schema === undefined) {
    problems.expect(wire !== "messages" && wire !== "any", "there is no schema");
    return problems.list;
  }
  for (const check of schemaChecks[wire]) check(problems, schema, wire);
  if (isStrict && wire !== "gemini" && wire !== "llama.cpp") checkStrictForm(problems, schema, wire);
  return [...new Set(problems.list)].map((problem) => `${String(name)}: ${problem}`);
}

/** Returns why a service refuses a list of definitions: each of them, names that come twice, too many. */
export function definitionListProblems(wire: DefinitionWire, definitions: readonly unknown[]): readonly string[] {
  const names = definitions.map((one) =>
    isObject(one) ? (isObject(one.function) ? one.function.name : one.name) : one,
  );
  const twice = names.filter((name, index) => names.indexOf(name) < index);
  return [
    ...definitions.flatMap((definition) => definitionProblems(wire, definition)),
    ...twice.map((name) => `${String(name)}: the name comes twice`),
    ...(wire === "chat" && names.length > mostChatTools ? [`${names.length} tools, at most ${mostChatTools}`] : []),
  ];
}

interface ReadTool {
  readonly name: unknown;
  readonly description: unknown;
  readonly schema: unknown;
  readonly isStrict: boolean;
}

function readTool(problems: Problems, wire: DefinitionWire, definition: unknown): ReadTool | undefined {
  if (!problems.expect(isObject(definition), "the definition is not an object")) return undefined;
  const outer = definition as Fields;
  if (wire === "chat" || wire === "llama.cpp") {
    const isFunction = outer.type === "function" && isObject(outer.function);
    if (!problems.expect(isFunction, "the definition is not { type: 'function', function }")) return undefined;
  }
  if (wire === "responses") {
    problems.expect(outer.type === "function", "type is not 'function'");
    problems.expect(typeof outer.strict === "boolean", "strict is not said");
  }
  const own = isObject(outer.function) ? outer.function : outer;
  const { name, description, parameters, parametersJsonSchema, input_schema, strict } = own;
  if (wire === "gemini")
    problems.expect(parameters === undefined, "parameters takes a dialect; JSON Schema goes into parametersJsonSchema");
  const schema = { messages: input_schema, gemini: parametersJsonSchema }[String(wire)] ?? parameters ?? undefined;
  return { name, description, schema, isStrict: strict === true };
}

type Check = (problems: Problems, schema: unknown, wire: DefinitionWire) => void;

const schemaChecks: Readonly<Record<DefinitionWire, readonly Check[]>> = {
  responses: [checkForm, checkRoot, checkArrays, checkReferences, checkPatterns],
  chat: [checkForm, checkRoot, checkArrays, checkReferences, checkPatterns, checkNames],
  messages: [checkForm, checkRoot, checkReferences, checkNames, checkNoPatternProperties],
  gemini: [checkForm, checkRoot, checkArrays, checkReferences, checkNames, checkGemini],
  "llama.cpp": [checkForm, checkReferences, checkLlama],
  any: [checkForm, checkRoot, checkArrays, checkReferences, checkPatterns, checkNames, checkNoRecursion],
};

function isOf(type: unknown, word: string): boolean {
  return type === word || (Array.isArray(type) && type.includes(word));
}

function checkRoot(problems: Problems, schema: unknown, wire: DefinitionWire): void {
  if (!problems.expect(isObject(schema) && schema.type === "object", "schema must have type 'object'")) return;
  const root = schema as Fields;
  for (const keyword of ["oneOf", "anyOf", "allOf", "enum", "const", "not", "if", "$ref"])
    problems.expect(!(keyword in root), `schema must not have '${keyword}' at the top level`);
  const count = Object.keys(isObject(root.properties) ? root.properties : {}).length;
  if (wire === "gemini") problems.expect(count > 0, "properties: should be non-empty for OBJECT type");
  else problems.expect(isObject(root.properties), "object schema missing properties");
}

function checkArrays(problems: Problems, schema: unknown, wire: DefinitionWire): void {
  for (const { at, own } of innerSchemas(schema)) {
    if (isOf(own.type, "array") || "prefixItems" in own)
      problems.expect(isObject(own.items), `${at}: array schema missing items`);
    if (own.type === "object" && (wire === "chat" || wire === "responses"))
      problems.expect(isObject(own.properties), `${at}: object schema missing properties`);
  }
}

function checkReferences(problems: Problems, schema: unknown): void {
  const defs = isObject(schema) && isObject(schema.$defs) ? schema.$defs : {};
  for (const { at, own } of innerSchemas(schema)) {
    for (const keyword of ["$dynamicRef", "$recursiveRef", "$anchor", "$id"])
      problems.expect(!(keyword in own), `${at}: ${keyword}`);
    if (!("$ref" in own)) continue;
    const [, name] = /^#\/\$defs\/([^/%~]+)$/.exec(String(own.$ref)) ?? [];
    problems.expect(
      name !== undefined && Object.hasOwn(defs, name),
      `${at}: reference to '${String(own.$ref)}', which was not found`,
    );
  }
}

/** Constructs that OpenAI's engine for patterns does not know. */
const foreign = /\\p\{|\(\?<?[=!]|\\[1-9]|\(\?</i;

function checkPatterns(problems: Problems, schema: unknown): void {
  for (const { at, own } of innerSchemas(schema))
    problems.expect(!foreign.test(String(own.pattern)), `${at}: ${JSON.stringify(own.pattern)} is not a 'regex'`);
}

function checkNames(problems: Problems, schema: unknown, wire: DefinitionWire): void {
  const legal = wire === "gemini" || wire === "any" ? /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/ : /^[a-zA-Z0-9_.-]{1,64}$/;
  for (const { at, own } of innerSchemas(schema))
    for (const name of Object.keys(isObject(own.properties) ? own.properties : {}))
      problems.expect(legal.test(name), `${at}: property keys should match ${legal.source}: ${JSON.stringify(name)}`);
}

function checkNoPatternProperties(problems: Problems, schema: unknown): void {
  for (const { at, own } of innerSchemas(schema))
    problems.expect(!("patternProperties" in own), `${at}: patternProperties`);
}

/** The keywords that `parametersJsonSchema` knows. */
const geminiKeywords = new Set([
  ...["$defs", "$ref", "$anchor", "$id", "additionalProperties", "anyOf", "description", "enum", "format", "items"],
  ...["maximum", "maxItems", "minimum", "minItems", "oneOf", "prefixItems", "properties", "propertyOrdering"],
  ...["required", "title", "type"],
]);

function checkGemini(problems: Problems, schema: unknown): void {
  checkNoRecursion(problems, schema);
  for (const { at, own } of innerSchemas(schema)) {
    for (const keyword of Object.keys(own))
      problems.expect(geminiKeywords.has(keyword), `${at}: Unknown name "${keyword}": Cannot find field`);
    if ("$ref" in own) {
      const beside = Object.keys(own).filter((keyword) => keyword !== "$ref" && keyword !== "description");
      problems.expect(beside.length === 0, `${at}: $ref was set alongside unsupported fields: ${beside.join(", ")}`);
    }
    problems.expect(!Array.isArray(own.type), `${at}: "type": Proto field is not repeating, cannot start list`);
    if (isObject(own.properties))
      problems.expect(Object.keys(own.properties).length > 0, `${at}: should be non-empty for OBJECT type`);
    for (const keyword of ["properties", "required"])
      problems.expect(!(keyword in own) || own.type === "object", `${at}: ${keyword}: only allowed for OBJECT type`);
    problems.expect(!("items" in own) || own.type === "array", `${at}: items: only allowed for ARRAY type`);
    const required = Array.isArray(own.required) ? own.required : [];
    const names = isObject(own.properties) ? own.properties : {};
    for (const name of required)
      problems.expect(Object.hasOwn(names, String(name)), `${at}: required: property is not defined: ${String(name)}`);
  }
}

/** Bounds above this make its grammar too large. */
const mostRepetitions = 2000;

function checkLlama(problems: Problems, schema: unknown): void {
  for (const { at, own, isInItems } of innerSchemas(schema)) {
    const { pattern } = own;
    if (pattern !== undefined) {
      problems.expect(/^\^.*\$$/s.test(String(pattern)), `${at}: Pattern must start with '^' and end with '$'`);
      problems.expect(!foreign.test(String(pattern)) && !isInItems, `${at}: failed to parse grammar`);
    }
    for (const bound of ["maxLength", "minLength", "maxItems", "minItems"])
      problems.expect(!(Number(own[bound]) > mostRepetitions), `${at}: failed to parse grammar: ${bound}`);
  }
}
