import type { OutputSink } from "../process/commandOutput.ts";
import type { StreamOutput, StreamText } from "../process/streamOutput.ts";
import { lengthOfBegun } from "../process/utf8.ts";

/** Keeps what a stream has brought since the last reading: the head and the tail of it, in flat memory. */
export class UnreadOutput implements OutputSink {
  readonly #onPush: () => void;
  readonly #output: StreamOutput;
  /** The bytes of a character of which more is to come. */
  #begun: Uint8Array = new Uint8Array(0);

  constructor(onPush: () => void, output: StreamOutput) {
    this.#onPush = onPush;
    this.#output = output;
  }

  get isEmpty(): boolean {
    return this.#output.isEmpty;
  }

  push(bytes: Uint8Array): void {
    const all = this.#begun.length > 0 ? Buffer.concat([this.#begun, bytes]) : bytes;
    const whole = all.length - lengthOfBegun(all);
    this.#output.push(all.subarray(0, whole));
    this.#begun = Uint8Array.from(all.subarray(whole));
    this.#onPush();
  }

  /** Ends the output: what is not a whole character is shown as it is. */
  end(): void {
    this.#output.push(this.#begun);
    this.#begun = new Uint8Array(0);
    this.#output.close();
  }

  /** Returns what came since the last call. */
  take(): StreamText {
    return this.#output.take();
  }

  toString(): string {
    return this.#output.toString();
  }
}
