import type { OutputSink } from "../process/commandOutput.ts";
import type { HeadTailBuffer } from "../process/headTailBuffer.ts";
import { lengthOfBegun } from "../process/utf8.ts";

/** Keeps what a stream has brought since the last reading: the head and the tail of it, in flat memory. */
export class UnreadOutput implements OutputSink {
  readonly #onPush: () => void;
  readonly #newBuffer: () => HeadTailBuffer;
  #buffer: HeadTailBuffer;
  /** The bytes of a character of which more is to come. */
  #begun: Uint8Array = new Uint8Array(0);

  constructor(onPush: () => void, newBuffer: () => HeadTailBuffer) {
    this.#onPush = onPush;
    this.#newBuffer = newBuffer;
    this.#buffer = newBuffer();
  }

  get isEmpty(): boolean {
    return this.#buffer.total === 0;
  }

  push(bytes: Uint8Array): void {
    const all = this.#begun.length > 0 ? Buffer.concat([this.#begun, bytes]) : bytes;
    const whole = all.length - lengthOfBegun(all);
    this.#buffer.push(all.subarray(0, whole));
    this.#begun = Uint8Array.from(all.subarray(whole));
    this.#onPush();
  }

  /** Nothing more comes: what is not a whole character is shown as it is. */
  end(): void {
    this.#buffer.push(this.#begun);
    this.#begun = new Uint8Array(0);
    this.#buffer.close();
  }

  /** What came since the last call. */
  take(): string {
    const text = this.#buffer.toString();
    if (this.isEmpty) return text;
    this.#buffer.close();
    this.#buffer = this.#newBuffer();
    return text;
  }

  toString(): string {
    return this.#buffer.toString();
  }
}
