/** Also for an error of another realm (`node:vm`, Jest), which is no instance of this one's Error. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || /^\[object (?:Error|DOMException)\]$/.test(Object.prototype.toString.call(value));
}

/** As `error instanceof RangeError`, say, in any realm. */
export function isErrorNamed(value: unknown, name: string): value is Error {
  return isError(value) && value.name === name;
}
