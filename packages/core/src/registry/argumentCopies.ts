import { attempt } from "../callSafely.ts";

/** The arguments of one call in the three forms in which they are handed out; no two share anything that can be changed. */
export interface ArgumentCopies {
  /** The tool's own. */
  readonly own: Args;
  /** Returns what the tool's `effects` gets: frozen, with the very instances that the tool will get. */
  forEffects(): Readonly<Args>;
  /** Returns what a guard gets: each asks for its own, as some values (dates, maps) cannot be frozen. */
  forGuard(): Readonly<Args>;
}

type Args = Record<string, unknown>;

/**
 * Takes a copy of `args`, so that nobody who holds them can change what runs. Arrays, plain objects, dates, maps, sets, URLs, regular
 * expressions and typed arrays are copied. An instance of any other class (a schema library's `validate` may make some) is not:
 * the tool gets the instance itself, a guard sees a frozen likeness of it, with its prototype and own properties, but without
 * what it keeps in private fields. Throws where something cannot be read.
 */
export function copyForCall(args: Args): ArgumentCopies {
  const { made: own, isJson } = copyArguments(args, (instance) => instance);
  let shared: Args | undefined;
  const frozen = (ofInstance: OfInstance): Args => {
    if (shared) return shared;
    const { made } = copyArguments(own, ofInstance, Object.freeze);
    if (isJson) shared = made;
    return made;
  };
  return { own, forEffects: () => frozen((instance) => instance), forGuard: () => frozen(likeness) };
}

type Copy = (value: unknown) => unknown;
/** A stand-in for an instance of a class that is not known here. `fill` copies properties. */
type OfInstance = (instance: object, fill: (target: object, source: object) => object) => object;

function likeness(instance: object, fill: Parameters<OfInstance>[1]): object {
  return fill(Object.create(Object.getPrototypeOf(instance)), instance);
}

/** Copies arguments. A value in a cycle, or one that appears twice, is copied once. `isJson`: there are arrays and plain objects only. */
function copyArguments(
  args: Args,
  ofInstance: OfInstance,
  finish: (made: object) => object = (made) => made,
): { made: Args; isJson: boolean } {
  const copies = new Map<object, unknown>();
  let isJson = true;
  const fill = (target: object, source: object): object => {
    copies.set(source, target);
    for (const key of Reflect.ownKeys(source)) {
      if (!Object.prototype.propertyIsEnumerable.call(source, key)) continue;
      const value = copy(Reflect.get(source, key));
      // Defined where an assignment could call a setter of the prototype.
      if (key in target)
        Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
      else Reflect.set(target, key, value);
    }
    return finish(target);
  };
  const copy: Copy = (value) => {
    if (typeof value !== "object" || value === null) return value;
    if (copies.has(value)) return copies.get(value);
    const prototype: object | null = Object.getPrototypeOf(value);
    if (Array.isArray(value) && depth(prototype) === 2) return fill(new Array(value.length), value);
    if (!Array.isArray(value) && depth(prototype) < 2) return fill(Object.create(prototype), value);
    isJson = false;
    const made = copyBuiltIn(value, prototype, copy, (begun) => copies.set(value, begun)) ?? ofInstance(value, fill);
    copies.set(value, made);
    return made;
  };
  return { made: copy(args) as Args, isJson };
}

/** Returns how many prototypes there are: 0 for null, 1 for `Object.prototype` of any realm, 2 for that of a class or of arrays. */
function depth(prototype: object | null): number {
  let count = 0;
  for (let at = prototype; at !== null && count < 4; at = Object.getPrototypeOf(at)) count += 1;
  return count;
}

/** Of every typed array. */
const { slice } = Uint8Array.prototype;

/** Returns the copy of an object that JavaScript or its host itself knows, of any realm; undefined for any other, also of a class derived from one. */
function copyBuiltIn(
  value: object,
  prototype: object | null,
  copy: Copy,
  begin: (made: object) => void,
): object | undefined {
  if (ArrayBuffer.isView(value)) {
    const isKnown = depth(prototype) < 4 || globalThis.Buffer?.isBuffer(value);
    return isKnown && !(value instanceof DataView) ? Reflect.apply(slice, value, []) : undefined;
  }
  if (depth(prototype) !== 2) return undefined;
  // A method of a built-in throws for what is not one: no other test tells them apart in every realm.
  const time = attempt(() => Date.prototype.getTime.call(value));
  if (time !== undefined) return withPrototype(new Date(time), prototype);
  const entries = attempt(() => [...Map.prototype.entries.call(value)]);
  if (entries) {
    const made = withPrototype(new Map<unknown, unknown>(), prototype);
    begin(made);
    for (const [key, item] of entries) Map.prototype.set.call(made, copy(key), copy(item));
    return made;
  }
  const items = attempt(() => [...Set.prototype.values.call(value)]);
  if (items) {
    const made = withPrototype(new Set<unknown>(), prototype);
    begin(made);
    for (const item of items) Set.prototype.add.call(made, copy(item));
    return made;
  }
  if (prototype === URL.prototype) return new URL(String(value));
  return prototype === RegExp.prototype && value instanceof RegExp ? new RegExp(value) : undefined;
}

/** Gives a copy its prototype: one for another realm keeps its kind there. */
function withPrototype<T extends object>(made: T, prototype: object | null): T {
  if (Object.getPrototypeOf(made) !== prototype) Object.setPrototypeOf(made, prototype);
  return made;
}
