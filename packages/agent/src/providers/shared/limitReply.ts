import { createEventCounter } from "@toolcrib/kit/text";
import { AgentError } from "../../errors.ts";

const megabyte = 2 ** 20;
/** Megabytes of one reply, streamed or whole. */
const mostReplyMegabytes = 64;
/** Megabytes of one event of a stream. The SDKs search all of an unfinished event at each of its pieces. */
const mostEventMegabytes = 8;
/** Megabytes of the answer of a request that failed. */
const mostErrorMegabytes = 1;

/** Counts the bytes of an event stream. The function throws an AgentError once a reply or one of its events is too large. */
export function createStreamLimit(): (chunk: Uint8Array) => void {
  const countReply = createReplyLimit();
  const countEvent = createEventCounter();
  return (chunk) => {
    countReply(chunk.length);
    if (countEvent(chunk) > mostEventMegabytes * megabyte) throw tooLong("one event of the reply", mostEventMegabytes);
  };
}

/** Returns the response with a body that fails with an AgentError once it is too large; one that tells of a failure is read here. */
export async function limitBody(response: Response): Promise<Response> {
  const { body, status, statusText, headers } = response;
  if (!body) return response;
  if (response.ok) {
    const isWhole = headers.get("content-type")?.toLowerCase().startsWith("application/json");
    const countReply = createReplyLimit();
    const count = isWhole ? (chunk: Uint8Array) => countReply(chunk.length) : createStreamLimit();
    const limited = body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          count(chunk);
          controller.enqueue(chunk);
        },
      }),
    );
    return new Response(limited, { status, statusText, headers });
  }
  // An SDK takes an error while it reads this body for what the service said.
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > mostErrorMegabytes * megabyte) throw tooLong(`the answer with status ${status}`, mostErrorMegabytes);
    chunks.push(chunk);
  }
  return new Response(Buffer.concat(chunks), { status, statusText, headers });
}

/** Characters that a part counts at least, so that empty ones without end come to an end. */
const leastPart = 64;

/** Counts the characters of a reply that comes in parts, whose bytes nobody sees. Throws as `createStreamLimit` does. */
export function createPartLimit(): (part: Readonly<Record<string, unknown>>) => void {
  const countReply = createReplyLimit();
  return (part) => {
    const texts = Object.values(part).filter((value) => typeof value === "string");
    const size = texts.reduce((sum, text) => sum + text.length, leastPart);
    if (size > mostEventMegabytes * megabyte) throw tooLong("one part of the reply", mostEventMegabytes);
    countReply(size);
  };
}

function createReplyLimit(): (size: number) => void {
  let bytes = 0;
  return (size) => {
    bytes += size;
    if (bytes > mostReplyMegabytes * megabyte) throw tooLong("the reply", mostReplyMegabytes);
  };
}

/** Makes an error that is not retried: the next reply would be as large. */
function tooLong(what: string, megabytes: number): AgentError {
  const message = `The service sent too much: ${what} is larger than ${megabytes} MB. Check the service, or ask for less.`;
  return new AgentError({ code: "bad_reply", message });
}
