/** Also for an error of another realm (`node:vm`, Jest), which is no instance of this one's Error. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || /^\[object (?:Error|DOMException)\]$/.test(Object.prototype.toString.call(value));
}
