import { isPlainObject, setOwn } from "../json.ts";

type Args = Record<string, unknown>;
type Copy = (value: unknown) => unknown;
type Keep = <Made extends object>(made: Made) => Made;

/** Arguments in two copies: one that a tool may change, and a frozen one for all who only look at them. */
export interface ArgumentCopies {
  readonly own: Args;
  readonly frozen: Readonly<Args>;
}

/** Copies arguments, so that nobody who holds them can change what runs; `frozen` if there is one already. Throws where something cannot be read. */
export function copiesOf(args: Readonly<Args>, frozen?: Readonly<Args>): ArgumentCopies {
  const own = copyArguments(frozen ?? args);
  return { own, frozen: frozen ?? frozenCopy(own) };
}

export function frozenCopy(args: Readonly<Args>): Readonly<Args> {
  return copyArguments(args, Object.freeze);
}

/**
 * Returns a copy of arguments. Arrays, plain objects, dates, maps, sets, URLs and typed arrays are copied; an
 * instance of any other class (a schema library may make some) is handed on as it is.
 */
function copyArguments(args: Readonly<Args>, finish: (made: object) => object = (made) => made): Args {
  const copies = new Map<object, unknown>();
  const copy: Copy = (value) => {
    if (typeof value !== "object" || value === null) return value;
    if (copies.has(value)) return copies.get(value);
    // Known before it is filled: a value may hold itself.
    const keep: Keep = (made) => {
      copies.set(value, made);
      return made;
    };
    if (Array.isArray(value)) {
      const made = keep<unknown[]>([]);
      for (const item of value) made.push(copy(item));
      return finish(made);
    }
    if (!isPlainObject(value)) return keep(copyBuiltIn(value, copy, keep));
    const made = keep<Args>(Object.create(Object.getPrototypeOf(value)));
    for (const [key, item] of Object.entries(value)) setOwn(made, key, copy(item));
    return finish(made);
  };
  return copy(args) as Args;
}

function copyBuiltIn(value: object, copy: Copy, keep: Keep): object {
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  // Of its own realm, whose tools may ask for an instance.
  const Kind = value.constructor as new (source?: unknown) => object;
  if (value instanceof Uint8Array && globalThis.Buffer?.isBuffer(value)) return Buffer.from(value);
  // An instance of a derived class may keep more than can be seen.
  if (Kind?.name !== kind) return value;
  if (kind === "Date") return new Kind(Number(value));
  if (kind === "URL") return new Kind(String(value));
  if (ArrayBuffer.isView(value) && kind !== "DataView") return new Kind(value);
  if (kind === "Map") {
    const made = keep(new Kind() as Map<unknown, unknown>);
    for (const [key, item] of value as Map<unknown, unknown>) made.set(copy(key), copy(item));
    return made;
  }
  if (kind !== "Set") return value;
  const made = keep(new Kind() as Set<unknown>);
  for (const item of value as Set<unknown>) made.add(copy(item));
  return made;
}
