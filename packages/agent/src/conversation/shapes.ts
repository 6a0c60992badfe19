import { isObject } from "@toolcrib/core/text";

export type Fits = (value: unknown) => boolean;

export const isText: Fits = (value) => typeof value === "string";

export function maybe(fits: Fits): Fits {
  return (value) => value === undefined || fits(value);
}

export function listOf(fits: Fits): Fits {
  return (value) => Array.isArray(value) && value.every(fits);
}

/** Returns a check of objects by their fields; others may be there too. */
export function objectWith<Fields>(fields: { readonly [Name in keyof Required<Fields>]: Fits }): Fits {
  const checks = Object.entries<Fits>(fields);
  return (value) => isObject(value) && checks.every(([name, fits]) => fits(value[name]));
}

/** Returns a check of objects of several kinds, by what one of their fields is. */
export function oneOfKinds(field: string, kinds: Readonly<Record<string, Fits>>): Fits {
  const checks = new Map<unknown, Fits>(Object.entries(kinds));
  return (value) => isObject(value) && checks.get(value[field])?.(value) === true;
}
