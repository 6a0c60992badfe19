import type { JsonSchema } from "@toolcrib/core";
import { pointerName, walkSchema } from "@toolcrib/core/internal";

/** A step of a pointer: to a name, to all other names, to the elements of a list, or to no other argument. */
const step =
  /\/(?:(?:properties|\$defs|definitions)\/(?<name>[^/]*)|(?<others>patternProperties\/[^/]*|additionalProperties)|(?<elements>items|prefixItems\/\d+)(?![^/])|[^/]*)/g;

/** Returns the argument that a JSON Pointer leads to: `/properties/edits/items/anyOf/0/properties/path` is `edits[].path`; empty for all. */
export function argumentAt(pointer: string): string {
  const paths = [...pointer.matchAll(step)].map(({ groups: { name, others, elements } = {} }) => {
    if (name !== undefined) return `.${pointerName(name)}`;
    return others ? ".*" : elements ? "[]" : "";
  });
  return paths.join("").replace(/^\./, "");
}

/** Makes `argumentAt` for one schema: a definition stands for the first argument that refers to it. */
export function argumentsOf(schema: JsonSchema): (pointer: string) => string {
  const users = new Map<unknown, string>();
  walkSchema(schema, ({ $ref }, at) => {
    const isOwn = typeof $ref !== "string" || `${at}/`.startsWith(`${$ref.slice(1)}/`);
    if (!isOwn && !users.has($ref)) users.set($ref, at);
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
