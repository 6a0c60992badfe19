type Json = Record<string, unknown>;

/** Makes a function that makes schemas of so many levels, also ones that are malformed in the ways of real servers. */
export function createRandomSchemas(random: () => number): (level: number) => unknown {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const names = [
    "a",
    "b",
    "$filter",
    "filter[id]",
    "@type",
    "x y",
    "größe",
    "1st",
    "a.b",
    "a-b",
    "filter",
    "",
    "__proto__",
  ];
  const types = ["string", "number", "integer", "boolean", "object", "array", "null", "STRING"];
  const patterns = ["^a$", "a", "\\p{L}+", "^(?=x)y$", "(", "^\\d+$", "^[\\w.]+$"];
  const values = ["a", 1, 2.5, true, null, {}, [1], ""];
  const refs = ["#/$defs/n", "#/definitions/m", "#", "#/$defs/none", "#/properties/a", "https://x.test/y"];
  const some = (make: () => unknown, most = 3): unknown[] => Array.from({ length: Math.ceil(random() * most) }, make);
  const map = (level: number): Json =>
    Object.fromEntries(some(() => [pick(names), schema(level - 1)]) as [string, unknown][]);
  const schema = (level: number): unknown => {
    if (level < 0 || random() < 0.05) return pick([true, false, {}, { type: "string" }]);
    const makers: Record<string, () => unknown> = {
      type: () => pick([pick(types), pick(types), [pick(types), "null"], ["object", "array"]]),
      properties: () => map(level),
      required: () => pick<unknown>([some(() => pick(names)), true, ["a", "a"]]),
      items: () => pick([schema(level - 1), some(() => schema(level - 1)), false]),
      prefixItems: () => some(() => schema(level - 1)),
      additionalProperties: () => pick([true, false, schema(level - 1)]),
      additionalItems: () => false,
      patternProperties: () => ({ [pick(patterns)]: schema(level - 1) }),
      ...Object.fromEntries(["anyOf", "oneOf", "allOf"].map((key) => [key, () => some(() => schema(level - 1))])),
      ...Object.fromEntries(["not", "if", "then", "else", "contains"].map((key) => [key, () => schema(level - 1)])),
      dependentSchemas: () => map(level),
      dependencies: () => ({ a: pick<unknown>([["b"], schema(level - 1)]) }),
      enum: () => some(() => pick(values), 4),
      const: () => pick(values),
      pattern: () => pick(patterns),
      exclusiveMinimum: () => pick([true, false, 3]),
      minimum: () => pick<unknown>([1, "1"]),
      maxLength: () => pick<unknown>([5, 10_000, "5", -1]),
      minItems: () => pick([0, 1, 5]),
      format: () => pick<unknown>(["uuid", "json", 5]),
      default: () => pick(values),
      description: () => pick<unknown>(["Some words", "", { no: "text" }]),
      examples: () => pick<unknown>([["a"], "a"]),
      nullable: () => true,
      $ref: () => pick(refs),
      $id: () => "https://x.test/own",
    };
    const keywords = Object.keys(makers).filter((key) => random() < (["type", "properties"].includes(key) ? 0.6 : 0.1));
    return Object.fromEntries(keywords.map((key) => [key, makers[key]?.()]));
  };
  return schema;
}
