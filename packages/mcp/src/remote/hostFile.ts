import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

/** What is sent to a place before anything else: a line with the digest, and one with the file, compressed, in base64. */
let packed: string | undefined;

/** Throws where the file was not installed beside this package, as in a bundle. */
export function packedHost(): string {
  packed ??= pack();
  return packed;
}

function pack(): string {
  let source: Buffer;
  try {
    const manifest = createRequire(import.meta.url).resolve("@toolcrib/mcp/package.json");
    source = readFileSync(join(dirname(manifest), "dist", "toolHost.cjs"));
  } catch (cause) {
    throw new Error("the file that runs in other places is not there: @toolcrib/mcp must be installed, not bundled", {
      cause,
    });
  }
  // The best quality would hold up the program for more than half a second, and spare 8 KB.
  const file = brotliCompressSync(source, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
  const sha256 = createHash("sha256").update(file).digest("hex");
  return `${JSON.stringify({ sha256 })}\n${file.toString("base64")}\n`;
}
