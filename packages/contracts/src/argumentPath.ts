import type { JsonSchema } from "@toolcrib/core";
import { filterKeywords, pointerName } from "@toolcrib/core/internal";

/** The steps that keywords add to the path of an argument; keywords with several schemas take one more part of the pointer. */
const steps: Readonly<Record<string, readonly [path: (name: string) => string, hasName: boolean]>> = {
  properties: [(name) => `.${name}`, true],
  patternProperties: [() => ".*", true],
  additionalProperties: [() => ".*", false],
  items: [() => "[]", false],
  prefixItems: [() => "[]", true],
  anyOf: [() => "", true],
  oneOf: [() => "", true],
  allOf: [() => "", true],
  $defs: [(name) => `.${name}`, true],
  definitions: [(name) => `.${name}`, true],
};

/** Returns the argument that a JSON Pointer leads to: `/properties/edits/items/anyOf/0/properties/path` is `edits[].path`; empty for all. */
export function argumentAt(pointer: string): string {
  const parts = pointer.split("/").slice(1);
  let path = "";
  for (let at = 0; at < parts.length; at += 1) {
    const keyword = parts[at] ?? "";
    const [add, hasName] = (Object.hasOwn(steps, keyword) && steps[keyword]) || [() => "", false];
    if (hasName) at += 1;
    path += add(pointerName(parts[at] ?? ""));
  }
  return path.replace(/^\./, "");
}

/** Makes `argumentAt` for one schema: a definition stands for the first argument that refers to it. */
export function argumentsOf(schema: JsonSchema): (pointer: string) => string {
  const users = new Map<unknown, string>();
  filterKeywords(schema, (keyword, value, at) => {
    const isOwn = typeof value !== "string" || `${at}/`.startsWith(`${value.slice(1)}/`);
    if (keyword === "$ref" && !isOwn && !users.has(value)) users.set(value, at);
    return true;
  });
  return (pointer) => {
    let place = pointer;
    // Definitions may refer to each other in a circle.
    for (let left = users.size; left > 0; left -= 1) {
      const definition = /^\/(?:\$defs|definitions)\/[^/]+/.exec(place)?.[0];
      const user = definition && users.get(`#${definition}`);
      if (definition === undefined || user === undefined) break;
      place = user + place.slice(definition.length);
    }
    return argumentAt(place);
  };
}
