import { setImmediate as nextTurn } from "node:timers/promises";
import { createStreamLimit, limitBody } from "./limitReply.ts";
import { sameOriginFetch } from "./sameOriginFetch.ts";

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
