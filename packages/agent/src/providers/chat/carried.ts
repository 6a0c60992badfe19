import { isObject } from "@toolcrib/core/text";

/** Fields that a server wrote beside the standard ones, and that go back as they came. */
export type Carried = Record<string, unknown>;

/** Adds those of the named fields that a piece holds. */
export function addCarried(carried: Carried, piece: object, fields: readonly string[]): void {
  for (const field of fields) {
    const value = (piece as Carried)[field];
    if (value === undefined || value === null) continue;
    const earlier = carried[field];
    carried[field] = isObject(earlier) && isObject(value) ? { ...earlier, ...value } : value;
  }
}

/** Returns those of the named fields that `data` holds. */
export function carriedIn(data: unknown, fields: readonly string[]): Carried {
  const carried: Carried = {};
  if (isObject(data)) addCarried(carried, data, fields);
  return carried;
}
