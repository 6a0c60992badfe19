import { setImmediate as nextTurn } from "node:timers/promises";
import { createEventCounter } from "@toolcrib/kit/text";
import { AgentError, advised } from "../../errors.ts";

const shortestGapMs = 250;

/** Tells that bytes arrived, also those that an SDK swallows: pings and comments that keep a connection open. */
export class ByteActivity {
  #resolve: (() => void) | undefined;
  #last = 0;

  /** Resolves at the next bytes, at most four times a second. */
  next(): Promise<undefined> {
    return new Promise((resolve) => {
      this.#resolve = () => resolve(undefined);
    });
  }

  record(): void {
    const now = performance.now();
    if (now - this.#last < shortestGapMs) return;
    this.#last = now;
    this.#resolve?.();
  }
}

const activities = new WeakMap<Response, ByteActivity>();

/** Returns the byte activity of a response that came through `activityFetch`. */
export function byteActivityOf(response: Response): ByteActivity | undefined {
  return activities.get(response);
}

/** Fetches as `sameOriginFetch` does, limits what a service may send, and records the byte activity of event streams. */
export async function activityFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await sameOriginFetch(input, init);
  const { body } = response;
  const isStream = response.ok && response.headers.get("content-type")?.startsWith("text/event-stream");
  if (!body || !isStream) return limitBody(response);
  const activity = new ByteActivity();
  // The SDKs also iterate a body that is no ReadableStream; one more stream in between would slow down each step.
  Object.defineProperty(response, "body", { value: recording(body, activity) });
  activities.set(response, activity);
  return response;
}

function recording(body: ReadableStream<Uint8Array>, activity: ByteActivity): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const count = createStreamLimit();
      const reader = body.getReader();
      return {
        async next() {
          const read = await reader.read();
          activity.record();
          if (read.done) return { done: true, value: undefined };
          count(read.value);
          return read;
        },
        async return() {
          // An SDK leaves at the last event. Mostly the end of the body has come with it: read, too, it costs less than a cancelled
          // request, which makes an error with its stack, and the connection can serve the next one.
          const isOver = reader.read().then(
            ({ done }) => done,
            () => true,
          );
          if (!(await Promise.race([isOver, nextTurn(false)]))) await reader.cancel();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

const mostRedirects = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 307, 308]);

/** Fetches, and follows redirects within the origin: another one would get the conversation and its headers. Throws an AgentError. */
async function sameOriginFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  let place = new URL(typeof input === "object" && "url" in input ? input.url : input);
  let request = input;
  for (let count = 0; ; count += 1) {
    const response = await fetch(request, { ...init, redirect: "manual" });
    const target = targetOf(response, place);
    if (target === undefined || count === mostRedirects) return response;
    await response.body?.cancel();
    if (target.origin !== place.origin) throw redirected(target);
    place = target;
    request = target;
  }
}

function targetOf(response: Response, place: URL): URL | undefined {
  const location = response.headers.get("location");
  if (!redirects.has(response.status) || location === null || !URL.canParse(location, place.href)) return undefined;
  return new URL(location, place);
}

function redirected({ origin, protocol }: URL): AgentError {
  const where = origin === "null" ? protocol : origin;
  const problem = `The service answered with a redirect to another origin, ${where}. Nothing was sent there.`;
  const advice = ["If it is the right address, set ", { option: "baseURL" }, " to it."] as const;
  return new AgentError({ code: "bad_reply", ...advised(problem, advice) });
}

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
async function limitBody(response: Response): Promise<Response> {
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
