import type { JsonSchema } from "../interface.ts";
import { clip, isPlainObject } from "../json.ts";
import { distinct } from "./plain.ts";
import { resolved } from "./references.ts";

/** Keywords that a service refuses at the top of parameters. */
const branching = ["$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "enum", "const", "dependentSchemas"];
/** The most schemas that are read to make one definition. */
export const mostSteps = 20_000;
const longestForm = 300;
const longestWords = 1500;

/** The properties of a schema and its branches. */
interface Parts {
  readonly properties: ReadonlyMap<string, ReadonlySet<unknown>>;
  readonly required: ReadonlySet<string>;
  readonly isClosed: boolean;
}

/** The steps that may still be taken; what is left then is left out. */
export interface Steps {
  left: number;
}

/**
 * Returns plain parameters without branches at the top: with the properties of all, and those required that every way through them
 * requires. `words`: the rest, for the description.
 */
export function joinBranches(
  root: JsonSchema,
  subject = "The arguments",
  steps: Steps = { left: mostSteps },
): { readonly schema: JsonSchema; readonly words: string } {
  const { properties, required, isClosed } = partsOf(root, root, new Map(), steps);
  const named = [...properties].map(([name, schemas]) => [name, unionOf(schemas)] as const);
  const rest = Object.entries(root).filter(([keyword]) => !branching.includes(keyword) && keyword !== "required");
  const schema: JsonSchema = {
    ...Object.fromEntries(rest),
    properties: {
      ...Object.fromEntries(named),
      // A name that is required and described nowhere.
      ...Object.fromEntries([...required].filter((name) => !properties.has(name)).map((name) => [name, {}])),
    },
    ...(required.size > 0 && { required: [...required] }),
    ...(isClosed && { additionalProperties: false }),
  };
  const words = wordsOf(root, root, new Set()).map((rule) => `${subject} ${rule}.`);
  return { schema, words: clip(words.join(" "), longestWords) };
}

function unionOf(schemas: ReadonlySet<unknown>): unknown {
  const different = distinct([...schemas]);
  if (different.some((one) => Object.keys(Object(one)).length === 0)) return {};
  return different.length === 1 ? different[0] : { anyOf: different };
}

/** Gathers the parts of a schema. `known` has those of schemas met before, so that each is read once. */
function partsOf(schema: unknown, root: JsonSchema, known: Map<unknown, Parts>, steps: Steps): Parts {
  const before = known.get(schema);
  if (before) return before;
  const none: Parts = { properties: new Map(), required: new Set(), isClosed: false };
  known.set(schema, none);
  steps.left -= 1;
  if (steps.left < 0) return none;
  const own = isPlainObject(schema) ? schema : {};
  const listed = isPlainObject(own.properties) ? own.properties : {};
  const isBlank = (name: string): boolean => Object.keys(Object(listed[name])).length === 0;
  const names = Object.keys(listed);
  const properties = new Map(names.filter((name) => !isBlank(name)).map((name) => [name, new Set([listed[name]])]));
  const required = new Set(listOf(own.required).map(String));

  const take = (branches: readonly unknown[], needed: "all" | "common" | "none"): readonly Parts[] => {
    const all = branches.map((branch) => partsOf(branch, root, known, steps));
    for (const [name, schemas] of all.flatMap((parts) => [...parts.properties])) {
      steps.left -= 1;
      const isOwn = Object.hasOwn(listed, name);
      // A closed schema takes no names but its own.
      if (isOwn ? !isBlank(name) : own.additionalProperties === false) continue;
      properties.set(name, new Set([...(properties.get(name) ?? []), ...schemas]));
    }
    for (const name of needed === "none" ? [] : all.flatMap((parts) => [...parts.required]))
      if (needed === "all" || all.every((parts) => parts.required.has(name))) required.add(name);
    return all;
  };
  if (own.$ref !== undefined) take([resolved(own, root)], "all");
  take(listOf(own.allOf), "all");
  const branches = [...take(listOf(own.anyOf), "common"), ...take(listOf(own.oneOf), "common")];
  take(own.if === undefined ? [] : [own.then, own.else], "common");
  take(Object.values(Object(own.dependentSchemas)), "none");
  for (const name of names) if (!properties.has(name)) properties.set(name, new Set([{}]));
  const isSealed = own.additionalProperties === false || own.unevaluatedProperties === false;
  const isClosed = isSealed || (branches.length > 0 && branches.every((parts) => parts.isClosed));
  const parts = { properties, required, isClosed };
  known.set(schema, parts);
  return parts;
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Says in words what the branches of a schema ask for beyond their properties. */
function wordsOf(schema: unknown, root: JsonSchema, said: Set<unknown>): string[] {
  if (!isPlainObject(schema) || said.has(schema)) return [];
  said.add(schema);
  const forms = (list: unknown): string =>
    listOf(list)
      .map((one) => formOf(one, root))
      .join(" or ");
  const words = [...(schema.$ref === undefined ? [] : [resolved(schema, root)]), ...listOf(schema.allOf)].flatMap(
    (part) => wordsOf(part, root, said),
  );
  if (schema.oneOf !== undefined) words.push(`must fit exactly one of these: ${forms(schema.oneOf)}`);
  if (schema.anyOf !== undefined) words.push(`must fit at least one of these: ${forms(schema.anyOf)}`);
  if (schema.not !== undefined) words.push(`must not fit ${formOf(schema.not, root)}`);
  if (schema.if !== undefined) {
    const otherwise = schema.else === undefined ? "" : `, otherwise ${formOf(schema.else, root)}`;
    words.push(`must, if they fit ${formOf(schema.if, root)}, fit ${formOf(schema.then ?? {}, root)}${otherwise}`);
  }
  for (const [name, one] of Object.entries(Object(schema.dependentSchemas)))
    words.push(`must, with ${name}, fit ${formOf(one, root)}`);
  const values = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (values !== undefined) words.push(`must be one of ${clip(JSON.stringify(values), longestForm)}`);
  return words;
}

const shown: ReadonlySet<string> = new Set([
  ...["type", "properties", "required", "additionalProperties", "title", "description"],
]);

/** Writes a schema as the names of its properties, `{ kind = "file", path, mode? }`; any other as it is. */
function formOf(schema: unknown, root: JsonSchema): string {
  const own = resolved(Object(schema), root);
  const names = [...new Set([...listOf(own.required).map(String), ...Object.keys(Object(own.properties))])];
  const isShown = names.length > 0 && Object.keys(own).every((keyword) => shown.has(keyword));
  if (!isShown) return clip(JSON.stringify(own), longestForm);
  const written = names.map((name) => {
    const { const: only, enum: list } = Object(Object(own.properties)[name]);
    const value = only ?? (Array.isArray(list) && list.length === 1 ? list[0] : undefined);
    return `${name}${listOf(own.required).includes(name) ? "" : "?"}${value === undefined ? "" : ` = ${JSON.stringify(value)}`}`;
  });
  return clip(`{ ${written.join(", ")} }`, longestForm);
}
