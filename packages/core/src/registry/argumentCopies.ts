import { isPlainObject, mostLevels, setOwn } from "../json.ts";

type Args = Record<string, unknown>;

/** Arguments in two copies: one that a tool may change, and a frozen one for all who only look at them. */
export interface ArgumentCopies {
  readonly own: Args;
  readonly frozen: Readonly<Args>;
}

/** Copies arguments, so that nobody who holds them can change what runs. Throws where something cannot be read. */
export function copiesOf(args: Readonly<Args>): ArgumentCopies {
  const own = copyArguments(args);
  return { own, frozen: frozenCopy(own) };
}

export function frozenCopy(args: Readonly<Args>): Readonly<Args> {
  return copyArguments(args, Object.freeze);
}

/**
 * Returns a copy of arguments. Arrays, plain objects, dates, maps, sets, URLs and typed arrays are copied; an instance of any other class (a
 * schema library may make some) is handed on as it is. Throws a RangeError past 500 levels, so also on a cycle.
 */
export function copyArguments(args: Readonly<Args>, finish: (made: object) => object = (made) => made): Args {
  const copy = (value: unknown, level: number): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (level > mostLevels) throw new RangeError("nested too deeply, or in a cycle");
    if (Array.isArray(value)) return finish(value.map((item) => copy(item, level + 1)));
    if (!isPlainObject(value)) return copyBuiltIn(value, (item) => copy(item, level + 1));
    const prototype: object | null = Object.getPrototypeOf(value);
    const made: Args = prototype === Object.prototype ? {} : Object.create(prototype);
    for (const key of Object.keys(value)) setOwn(made, key, copy(value[key], level + 1));
    return finish(made);
  };
  return copy(args, 0) as Args;
}

function copyBuiltIn(value: object, copy: (value: unknown) => unknown): object {
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  // Of its own realm, whose tools may ask for an instance.
  const Kind = value.constructor as new (source?: unknown) => object;
  if (globalThis.Buffer?.isBuffer(value)) return Buffer.from(value);
  // An instance of a derived class may keep more than can be seen.
  if (Kind?.name !== kind) return value;
  if (kind === "Date") return new Kind(Number(value));
  if (kind === "URL") return new Kind(String(value));
  if (kind === "Map") return new Kind([...(value as Map<unknown, unknown>)].map((entry) => entry.map(copy)));
  if (kind === "Set") return new Kind([...(value as Set<unknown>)].map(copy));
  return ArrayBuffer.isView(value) && kind !== "DataView" ? new Kind(value) : value;
}
