import { gunzipSync } from "node:zlib";

const block = 512;
/** A package of toolcrib has less than 3 MB. */
const mostBytes = 100 * 2 ** 20;

/** Reads files of a `.tgz` by their path in it, such as `package/package.json`. Throws an Error for what is none. */
export function unpack(archive: Uint8Array, name: string): (path: string) => string | undefined {
  const files = new Map<string, Buffer>();
  let bytes: Buffer;
  try {
    bytes = gunzipSync(archive, { maxOutputLength: mostBytes });
  } catch {
    throw new Error(`${name} is no tarball that npm pack wrote`);
  }
  for (let at = 0; at + block <= bytes.length; ) {
    const header = bytes.subarray(at, at + block);
    const path = text(header, 0, 100);
    if (path === "") break;
    const size = Number.parseInt(text(header, 124, 12), 8);
    if (!Number.isInteger(size) || size < 0) throw new Error(`${name} is no tarball that npm pack wrote`);
    const start = at + block;
    // Of other kinds than plain files none is asked for.
    if (/^[0\0]?$/.test(String.fromCharCode(header[156] ?? 0))) files.set(path, bytes.subarray(start, start + size));
    at = start + Math.ceil(size / block) * block;
  }
  return (path) => files.get(path)?.toString("utf8");
}

/** Returns a field of a header: up to its first zero byte. */
function text(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end === -1 ? length : end).trim();
}
