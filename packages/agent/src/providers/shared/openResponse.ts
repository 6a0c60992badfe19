import { isObject } from "@toolcrib/core/text";
import { badReply, type Service, serviceFault, wrongKind } from "../errors/wireErrors.ts";
import { type ByteActivity, byteActivityOf } from "./byteActivity.ts";

/** What both SDKs' request promises offer. */
export interface SdkPromise<T> extends PromiseLike<T> {
  asResponse(): Promise<Response>;
}

/** A response that has begun: its chunks, and a sign for each of its bytes where there is one. */
export interface OpenResponse<Chunk> {
  readonly chunks: AsyncIterable<Chunk> | Iterable<Chunk>;
  readonly activity?: ByteActivity | undefined;
}

/**
 * Opens the response to a request. Throws for a web page, which would be read as an empty stream. A server that does not
 * stream responds with the whole reply as JSON, which `toChunks` splits.
 */
export async function openResponse<Chunk, Whole>(
  promise: SdkPromise<AsyncIterable<Chunk> | Whole>,
  reading: { readonly service: Service; readonly stream: boolean; toChunks(whole: Whole): Iterable<Chunk> },
): Promise<OpenResponse<Chunk>> {
  const { service, stream, toChunks } = reading;
  const response = await promise.asResponse();
  const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  // Only as a stream is an event stream limited.
  if (type === "text/html" || type === "text/plain" || (!stream && type === "text/event-stream"))
    throw wrongKind(service, type);
  if (stream && type !== "application/json")
    return { chunks: (await promise) as AsyncIterable<Chunk>, activity: byteActivityOf(response) };
  const whole: unknown = await response.json();
  if (!isObject(whole)) throw badReply(service, "is not of its API's format.");
  if (whole.error && !("output" in whole)) throw serviceFault(whole.error);
  return { chunks: toChunks(whole as Whole) };
}
