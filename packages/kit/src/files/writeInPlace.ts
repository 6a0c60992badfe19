import { fstatSync, ftruncate, ftruncateSync, write, writeSync } from "node:fs";
import { promisify } from "node:util";
import type { ToolCallInfo } from "@toolcrib/core";
import { flush } from "./changeAttributes.ts";
import type { RegularFile } from "./openRegular.ts";

const ftruncateAsync = promisify(ftruncate);
const writeAsync = promisify(write);

/**
 * Overwrites an open file, which it closes. What needs new space is written first, beyond the old end, and taken back on an
 * error, so a full disk leaves the old content; a crash later on may leave a mixture. Throws the system's error.
 */
export async function writeInPlace(file: RegularFile, bytes: Uint8Array, call?: ToolCallInfo): Promise<void> {
  const { descriptor } = file;
  try {
    const { size } = fstatSync(descriptor);
    try {
      await writeRange(descriptor, bytes, size, bytes.length, call?.signal);
      await flush(file);
      call?.beginCommit?.();
    } catch (error) {
      if (fstatSync(descriptor).size !== size) ftruncateSync(descriptor, size);
      throw error;
    }
    await writeRange(descriptor, bytes, 0, Math.min(size, bytes.length));
    if (bytes.length < size) await ftruncateAsync(descriptor, bytes.length);
    await flush(file);
  } finally {
    file.close();
  }
}

/** Bytes written at a time; an abort is noticed between. */
const chunkLength = 4 * 1024 * 1024;

/** Up to this many bytes are written synchronously: a turn in the thread pool would take several times as long. */
const smallLength = 64 * 1024;

/** Writes `bytes[from…to]` to the same place in the file. */
export async function writeRange(
  descriptor: number,
  bytes: Uint8Array,
  from: number,
  to: number,
  signal?: AbortSignal,
): Promise<void> {
  for (let done = from; done < to; ) {
    signal?.throwIfAborted();
    const length = Math.min(to - done, chunkLength);
    done +=
      length <= smallLength
        ? writeSync(descriptor, bytes, done, length, done)
        : (await writeAsync(descriptor, bytes, done, length, done)).bytesWritten;
  }
}
