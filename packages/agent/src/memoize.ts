/** Makes something of each object once, for objects that never change. */
export function memoize<Key extends object, Rest extends unknown[], Value>(
  make: (key: Key, ...rest: Rest) => Value,
): (key: Key, ...rest: Rest) => Value {
  const known = new WeakMap<Key, { readonly value: Value }>();
  return (key, ...rest) => {
    const kept = known.get(key) ?? { value: make(key, ...rest) };
    known.set(key, kept);
    return kept.value;
  };
}
