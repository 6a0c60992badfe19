import { aliasesOf } from "../arguments/aliases.ts";
import { withWords } from "../arguments/mend.ts";
import { holdingOf, mapHeld } from "../arguments/schemaParts.ts";
import type { JsonSchema } from "../interface.ts";
import { clip, isPlainObject, setOwn } from "../json.ts";
import { mostSteps, type Steps } from "./joinBranches.ts";
import { onlyOneType } from "./oneType.ts";
import { definitionsOf, outlineOf, withoutCircles, withoutUnused } from "./references.ts";
import type { WireRules } from "./rules.ts";

const bounds: ReadonlySet<string> = new Set(["minLength", "maxLength", "minItems", "maxItems"]);
/** Keywords that need not be told where they are left out. */
const untold: ReadonlySet<string> = new Set([
  ...["examples", "deprecated", "readOnly", "writeOnly", "contentSchema", "unevaluatedItems", "unevaluatedProperties"],
]);
const typing = ["type", "anyOf", "oneOf", "allOf", "$ref", "enum", "not"];

/** Any JSON value, for services that want a type. */
const anyValue = {
  anyOf: [
    ...["string", "number", "boolean", "null"].map((type) => ({ type })),
    { type: "object", properties: {} },
    { type: "array", items: {} },
  ],
};

/** Returns plain parameters in the words that a wire takes; what it has no word for is told in descriptions. `given` has the names. */
export function fitSchema(plain: JsonSchema, rules: WireRules, given: JsonSchema): JsonSchema {
  return new Fit(plain, rules, aliasesOf(given)).schema();
}

class Fit {
  readonly #plain: JsonSchema;
  readonly #rules: WireRules;
  readonly #aliases: ReadonlyMap<string, string>;
  /** The schemas around the one that is fitted: joined parts may hold one of them again. */
  readonly #around = new Set<JsonSchema>();
  readonly #steps: Steps = { left: mostSteps };

  constructor(plain: JsonSchema, rules: WireRules, aliases: ReadonlyMap<string, string>) {
    this.#plain = plain;
    this.#rules = rules;
    this.#aliases = aliases;
  }

  schema(): JsonSchema {
    const { $defs: _, ...root } = this.#plain;
    const entries = Object.entries(definitionsOf(this.#plain));
    const definitions = Object.fromEntries(entries.map(([name, one]) => [name, this.#fit(one, true)]));
    const fitted = withoutUnused({ ...this.#fit(root, false), $defs: definitions });
    return this.#rules.takesRecursion ? fitted : withoutUnused(withoutCircles(fitted));
  }

  #fit(given: JsonSchema, isInItems: boolean): JsonSchema {
    this.#steps.left -= 1;
    const isEndless = this.#around.has(given) || this.#steps.left < 0;
    const schema = isEndless ? withWords(outlineOf(given), "It has the form of what is around it.") : given;
    this.#around.add(given);
    const made = this.#parts(this.#simple(schema), isInItems);
    if (!isEndless) this.#around.delete(given);
    return made;
  }

  /** Puts a schema in the simpler terms of the wire, before its parts are fitted. */
  #simple(given: JsonSchema): JsonSchema {
    const { takesConst, hasOneType } = this.#rules;
    const { const: only, ...rest } = given;
    const schema = takesConst || !("const" in given) ? given : { ...rest, enum: [only] };
    return hasOneType ? onlyOneType(schema, this.#plain, this.#steps) : schema;
  }

  #parts(schema: JsonSchema, isInItems: boolean): JsonSchema {
    const made: Record<string, unknown> = {};
    const lost: Record<string, unknown> = {};
    for (const [keyword, value] of Object.entries(schema)) {
      if (this.#takes(keyword, value, schema, isInItems)) setOwn(made, keyword, this.#value(keyword, value, isInItems));
      else if (!untold.has(keyword) && !isEmpty(keyword, value)) lost[keyword] = value;
    }
    const { listsProperties, keywords } = this.#rules;
    if (listsProperties && made.type === "object") made.properties ??= {};
    if (keywords && Array.isArray(made.required)) {
      made.required = made.required.filter((name) => Object.hasOwn(Object(made.properties), name));
      if (Object(made.required).length === 0) delete made.required;
    }
    return withWords(made, wordsFor(lost));
  }

  #takes(keyword: string, value: unknown, schema: JsonSchema, isInItems: boolean): boolean {
    const { keywords, pattern, hasPlainItems, mostRepetitions = Infinity, listsProperties } = this.#rules;
    if (keywords && schema.$ref !== undefined) return keyword === "$ref" || keyword === "description";
    if (keywords && !keywords.has(keyword)) return false;
    if (keyword === "pattern") return !(hasPlainItems && isInItems) && (pattern?.test(String(value)) ?? true);
    if (bounds.has(keyword)) return Number(value) <= mostRepetitions;
    return listsProperties !== false || !isEmpty(keyword, value);
  }

  #value(keyword: string, value: unknown, isIn: boolean): unknown {
    const isInItems = isIn || keyword === "items" || keyword === "prefixItems";
    switch (keyword) {
      case "properties":
        return this.#named(value, (one, name) => this.#property(name, one as JsonSchema, isInItems));
      case "dependentSchemas":
        return this.#named(value, (one) => this.#fit(one as JsonSchema, isInItems));
      case "dependentRequired":
        return this.#named(value, (names) => this.#names(names));
      case "required":
      case "propertyOrdering":
        return this.#names(value);
      default:
        return holdingOf(keyword) === undefined
          ? value
          : mapHeld(keyword, value, (one) => (isPlainObject(one) ? this.#fit(one, isInItems) : one));
    }
  }

  #property(name: string, schema: JsonSchema, isInItems: boolean): JsonSchema {
    const fitted = this.#fit(schema, isInItems);
    const isUntyped = !typing.some((keyword) => keyword in fitted);
    const typed = this.#rules.typesProperties && isUntyped ? { ...anyValue, ...fitted } : fitted;
    return this.#name(name) === name ? typed : withWords(typed, `The tool itself names it ${JSON.stringify(name)}.`);
  }

  #named(map: unknown, make: (value: unknown, name: string) => unknown): JsonSchema {
    return Object.fromEntries(Object.entries(Object(map)).map(([name, one]) => [this.#name(name), make(one, name)]));
  }

  #names(names: unknown): unknown {
    return Array.isArray(names) ? names.map((name) => this.#name(String(name))) : names;
  }

  #name(name: string): string {
    return this.#rules.property.test(name) ? name : (this.#aliases.get(name) ?? name);
  }
}

function isEmpty(keyword: string, value: unknown): boolean {
  return keyword === "properties" && Object.keys(Object(value)).length === 0;
}

/** Tells what a schema asks for beyond what its wire has words for. */
function wordsFor({ default: stated, ...lost }: JsonSchema): string {
  const more = Object.keys(lost).length === 0 ? "" : `Must fit ${clip(JSON.stringify(lost), 300)}.`;
  return [stated === undefined ? "" : `Default: ${clip(JSON.stringify(stated), 300)}.`, more].filter(Boolean).join(" ");
}
