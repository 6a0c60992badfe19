import type { Opened } from "./exchange.ts";
import { pulseOf } from "./pulse.ts";
import { badReply, type Service, serviceFault, toAgentError, wrongKind } from "./wireErrors.ts";
import { isRecord } from "./wireText.ts";

/** What both SDKs' request promises offer. */
interface Answering<T> extends PromiseLike<T> {
  asResponse(): Promise<Response>;
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
  if (kindOf(response, service) === "application/json")
    return wholeReply((await response.json()) as Whole, toChunks, service);
  return { chunks: data, pulse: pulseOf(response) };
}

/** The answer to a request without streaming, as the chunks that a stream would have brought. */
export async function openWhole<Chunk, Whole>(
  promise: Answering<Whole>,
  toChunks: (whole: Whole) => Iterable<Chunk>,
  service: Service,
): Promise<Opened<Chunk>> {
  kindOf(await promise.asResponse(), service);
  try {
    return wholeReply(await promise, toChunks, service);
  } catch (error) {
    throw toAgentError(error, service, true);
  }
}

/** The media type of an answer; throws for one that no model service gives. */
function kindOf(response: Response, service: Service): string | undefined {
  const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type === "text/html" || type === "text/plain") throw wrongKind(service, type);
  return type;
}

function wholeReply<Chunk, Whole>(
  whole: Whole,
  toChunks: (whole: Whole) => Iterable<Chunk>,
  service: Service,
): Opened<Chunk> {
  if (!isRecord(whole)) throw badReply(service, "is not of its API's format.");
  if (whole.error && !("output" in whole)) throw serviceFault(whole.error);
  return { chunks: toChunks(whole) };
}
