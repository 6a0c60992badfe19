/**
 * The TypeScript type of what a literal JSON Schema describes. Kept shallow on purpose: type, enum, const, properties,
 * required, items; anything else is `unknown`.
 */
export type FromSchema<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly type: infer T }
      ? FromType<S, T extends readonly (infer U)[] ? U : T>
      : unknown;

type FromType<S, T> = T extends "string"
  ? string
  : T extends "number" | "integer"
    ? number
    : T extends "boolean"
      ? boolean
      : T extends "null"
        ? null
        : T extends "array"
          ? S extends { readonly items: infer I }
            ? FromSchema<I>[]
            : unknown[]
          : T extends "object"
            ? FromObject<S>
            : unknown;

type FromObject<S> = S extends { readonly properties: infer P }
  ? Flat<
      { -readonly [K in keyof P & Required<S>]: FromSchema<P[K]> } & {
        -readonly [K in Exclude<keyof P, Required<S>>]?: FromSchema<P[K]> | undefined;
      }
    >
  : Record<string, unknown>;

type Required<S> = S extends { readonly required: readonly (infer R)[] } ? R : never;

type Flat<T> = { [K in keyof T]: T[K] };
