import type { Opened } from "./exchange.ts";
import { pulseOf } from "./pulse.ts";
import { badReply, type Service, serviceFault, wrongKind } from "./wireErrors.ts";
import { isRecord } from "./wireText.ts";

/** What both SDKs' request promises offer. */
interface Answering<T> {
  withResponse(): Promise<{ data: T; response: Response }>;
}

/**
 * The answer to a streaming request. A web page is refused before it is read as an empty stream; a server that does not
 * stream answers with the whole reply as JSON, which `toChunks` splits.
 */
export async function openStream<Chunk, Whole>(
  promise: Answering<AsyncIterable<Chunk>>,
  toChunks: (whole: Whole) => Iterable<Chunk>,
  service: Service,
): Promise<Opened<Chunk>> {
  const { data, response } = await promise.withResponse();
  const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type === "text/html" || type === "text/plain") throw wrongKind(service, type);
  if (type === "application/json") return { chunks: wholeReply((await response.json()) as Whole, toChunks, service) };
  return { chunks: data, pulse: pulseOf(response) };
}

/** The chunks of a reply that came whole. */
export function wholeReply<Chunk, Whole>(
  whole: Whole,
  toChunks: (whole: Whole) => Iterable<Chunk>,
  service: Service,
): Iterable<Chunk> {
  if (typeof whole === "string" && whole.trimStart().startsWith("<")) throw wrongKind(service, "a web page");
  if (!isRecord(whole)) throw badReply(service, "is not of its API's format.");
  if (whole.error && !("output" in whole)) throw serviceFault(whole.error);
  return toChunks(whole);
}
