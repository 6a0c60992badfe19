/**
 * The wires that carry tool definitions. `chat`: chat completions, behind which any maker's service may be, or llama.cpp. `any`: a loop
 * that may speak to each of the services.
 */
export type Wire = "responses" | "chat" | "messages" | "gemini" | "any";

/** The words of a schema that a wire takes. */
export interface WireRules {
  /** Matches the names of tools. */
  readonly tool: RegExp;
  /** Matches the names of properties; others are sent under their alias. */
  readonly property: RegExp;
  /** Matches patterns that the service can compile; undefined: it takes all. */
  readonly pattern?: RegExp;
  /** True if it takes none within the items of an array. */
  readonly hasPlainItems?: boolean;
  /** The only keywords that it knows; undefined: it looks at no others. */
  readonly keywords?: ReadonlySet<string>;
  readonly takesRecursion: boolean;
  /** True if each part must have one type, and a union nothing beside its branches. */
  readonly hasOneType?: boolean;
  readonly takesConst: boolean;
  /** True if every object has `properties`; false if none may be empty. */
  readonly listsProperties?: boolean;
  /** Larger bounds are told in words. */
  readonly mostRepetitions?: number;
  /** True if a property must have a type. */
  readonly typesProperties?: boolean;
}

const legal = /^[a-zA-Z0-9_-]{1,64}$/;
const portable = /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/;
/** No classes of Unicode, no look-around, no names and no references back. */
const ordinary = /^(?!.*(?:\\[pP1-9ku]|\(\?(?!:)))/s;
/** The grammar of llama.cpp takes patterns of whole texts alone. */
const whole = /^(?!.*(?:\\[pP1-9ku]|\(\?(?!:)))\^.*(?<!\\)\$$/s;

const generous = { tool: legal, takesRecursion: true, takesConst: true };

export const wireRules: Readonly<Record<Wire, WireRules>> = {
  responses: {
    ...generous,
    // Nothing is known of other letters, which the service is not seen to refuse.
    property: /^[\p{L}\p{N}_.-]{1,64}$/u,
    pattern: ordinary,
    listsProperties: true,
  },
  chat: {
    ...generous,
    property: /^[a-zA-Z0-9_.-]{1,64}$/,
    pattern: whole,
    hasPlainItems: true,
    takesConst: false,
    listsProperties: true,
    mostRepetitions: 1000,
    typesProperties: true,
  },
  messages: { ...generous, property: /^[a-zA-Z0-9_.-]{1,64}$/ },
  gemini: {
    tool: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
    property: portable,
    keywords: new Set([
      ...["$defs", "$ref", "additionalProperties", "anyOf", "description", "enum", "format", "items", "maximum"],
      ...[
        "maxItems",
        "minimum",
        "minItems",
        "prefixItems",
        "properties",
        "propertyOrdering",
        "required",
        "title",
        "type",
      ],
    ]),
    takesRecursion: false,
    hasOneType: true,
    takesConst: false,
    listsProperties: false,
  },
  any: { ...generous, property: portable, pattern: ordinary, takesRecursion: false, takesConst: false },
};
