import type { Readable, Writable } from "node:stream";
import {
  type JSONRPCMessage,
  ProtocolErrorCode,
  parseJSONRPCMessage,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { isObject } from "@toolcrib/core/text";
import { LineSplitter } from "@toolcrib/kit/text";
import { reasonOf } from "../errors.ts";
import { record } from "../mapping.ts";

/** The streams that messages come from and go to. */
interface StdioStreams {
  input: Readable;
  output: Writable;
}

/**
 * One JSON-RPC message per line in both directions. A line that is not a message, or is longer than `maxMessageBytes`, is
 * answered with an error. Closes when the input ends or the output breaks, and calls `onEnd` then. Not the SDK's: that one ends the
 * connection for a long message and leaves a line that is no message without an answer, and a check before it would parse each message twice.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #streams: StdioStreams;
  readonly #lines: LineSplitter;
  readonly #onEnd: () => void;
  #isClosed = false;
  readonly #onChunk = (chunk: Buffer): void => this.#lines.push(chunk);
  readonly #end = (): void => void this.close();
  readonly #fail = (error: Error): void => this.onerror?.(error);

  constructor(streams: StdioStreams, maxMessageBytes: number, onEnd: () => void) {
    this.#streams = streams;
    this.#onEnd = onEnd;
    this.#lines = new LineSplitter(
      maxMessageBytes,
      (line) => this.#read(line),
      () =>
        this.#refuse(
          null,
          ProtocolErrorCode.InvalidRequest,
          `Invalid request: a message of more than ${maxMessageBytes} bytes`,
        ),
    );
  }

  async start(): Promise<void> {
    const { input, output } = this.#streams;
    if (input.readableEnded || input.destroyed) setImmediate(this.#end);
    input.on("data", this.#onChunk).on("error", this.#fail).on("end", this.#end).on("close", this.#end);
    output.on("error", this.#fail).on("error", this.#end);
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error("The connection is closed"));
    return new Promise((resolve, reject) => {
      this.#streams.output.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Closes, but for the error listeners: an error of a broken pipe that comes late would end the process. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { input } = this.#streams;
    input.off("data", this.#onChunk).off("end", this.#end).off("close", this.#end);
    if (input.listenerCount("data") === 0) input.pause();
    this.onclose?.();
    this.#onEnd();
  }

  #read(line: string): void {
    if (this.#isClosed || line.trim() === "") return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      this.#refuse(null, ProtocolErrorCode.ParseError, "Parse error: the line is not JSON");
      return;
    }
    const { params, ...message } = record(value);
    let parsed: JSONRPCMessage;
    try {
      // Some clients send null for no parameters.
      parsed = parseJSONRPCMessage(params === null ? message : value);
    } catch (error) {
      this.#refuseMessage(message, params ?? undefined, error);
      return;
    }
    this.onmessage?.(parsed);
  }

  /** Refuses what is no message; a response or a notification has nobody to be told. */
  #refuseMessage({ id, method, ...message }: Record<string, unknown>, params: unknown, error: unknown): void {
    const hasId = typeof id === "string" || Number.isSafeInteger(id);
    const isResponse = method === undefined && ("result" in message || "error" in message);
    const isOfParams = typeof method === "string" && params !== undefined && !isObject(params);
    if (isResponse || (isOfParams && id === undefined))
      this.onerror?.(new Error(`A message that cannot be read: ${reasonOf(error)}`));
    else if (isOfParams && hasId)
      this.#refuse(id, ProtocolErrorCode.InvalidParams, "Invalid params: params must be an object");
    else {
      const expected =
        "one JSON-RPC 2.0 message a line (no batch), with a method, and an id that is a string or a whole number";
      this.#refuse(hasId ? id : null, ProtocolErrorCode.InvalidRequest, `Invalid request: expected ${expected}`);
    }
  }

  #refuse(id: unknown, code: ProtocolErrorCode, message: string): void {
    this.onerror?.(new Error(message));
    this.#streams.output.write(`${JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } })}\n`);
  }
}
