import type { Socket } from "node:net";
import { isBun, openSocket } from "./platform.ts";
import { PolledWriter } from "./polledPipe.ts";

/** The open standard input of a command. */
export interface CommandInput {
  /** False once it is closed, by either side: what the program has closed shows at the next write. */
  readonly isOpen: boolean;
  /** Bytes that the program has not taken yet, beyond what a pipe holds. */
  readonly waiting: number;
  /** Resolves when the bytes are on their way to the program, it has closed its input, or a moment is over. Never rejects. */
  write(bytes: Uint8Array): Promise<void>;
  /** Closes it after what waits. */
  close(): void;
  /** Closes it at once. */
  discard(): void;
}

/** The part of a stream of Node's that is used: users compile the published types without those of Node. */
interface InputStream {
  readonly writable: boolean;
  readonly writableLength: number;
  on(event: "error", listener: () => void): unknown;
  write(bytes: Uint8Array, done: () => void): unknown;
  end(done: () => void): unknown;
  destroy(): unknown;
}

/** The time that a write waits for the program to take the bytes. */
const momentMs = 100;

/** Takes the writing end of a pipe: a descriptor, which it closes, or a stream of Node's. */
export function openInput(end: number | InputStream): CommandInput {
  const openEnd = (fd: number): InputStream =>
    isBun ? new PolledWriter(fd) : openSocket({ fd, readable: false, writable: true });
  const stream = typeof end === "number" ? openEnd(end) : end;
  // The program may close its input, or end, at any time.
  stream.on("error", () => {});
  if ("unref" in stream) (stream as Socket).unref();
  return {
    get isOpen() {
      return stream.writable;
    },
    get waiting() {
      return stream.writableLength;
    },
    write: (bytes) =>
      new Promise((resolve) => {
        const moment = setTimeout(resolve, momentMs);
        stream.write(bytes, () => {
          clearTimeout(moment);
          // Its error comes after this.
          setImmediate(resolve);
        });
      }),
    close() {
      stream.end(() => stream.destroy());
    },
    discard() {
      stream.destroy();
    },
  };
}
