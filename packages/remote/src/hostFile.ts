import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { type ExecutableTool, toolFingerprint } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";

/** Sent to a remote before anything else: a line with the digest, and one with the file, compressed, in base64. */
let packed: string | undefined;

/** Throws where the file was not installed beside this package, as in a bundle. */
export function packedHost(): string {
  if (packed !== undefined) return packed;
  const source = load((path) => readFileSync(path));
  // The best quality would hold up the program for more than half a second, and spare 8 KB.
  const file = brotliCompressSync(source, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
  const sha256 = createHash("sha256").update(file).digest("hex");
  packed = `${JSON.stringify({ sha256 })}\n${file.toString("base64")}\n`;
  return packed;
}

let fingerprints: ReadonlySet<string> | undefined;

/** Returns whether a tool that a remote lists is one of the packs: what it says of itself is true then. Throws as `packedHost`. */
export function isPackTool(tool: ExecutableTool): boolean {
  fingerprints ??= new Set(
    load((path) => (createRequire(path)(path) as { packFingerprints(): string[] }).packFingerprints()),
  );
  // Its schema may be anything.
  return fingerprints.has(attempt(() => toolFingerprint(tool)) ?? "");
}

function load<Value>(read: (path: string) => Value): Value {
  try {
    const manifest = createRequire(import.meta.url).resolve("@toolcrib/remote/package.json");
    return read(join(dirname(manifest), "dist", "toolHost.cjs"));
  } catch (cause) {
    throw new Error("the file that runs on remotes is missing: @toolcrib/remote must be installed, not bundled", {
      cause,
    });
  }
}
