import { sameOriginFetch } from "./sameOriginFetch.ts";

const shortestBeatMs = 250;

/** Says that bytes arrived, also those an SDK swallows (pings, comments that keep a connection open). */
export class Pulse {
  #resolve: (() => void) | undefined;
  #last = 0;

  /** Resolves at the next bytes, at most four times a second. */
  next(): Promise<undefined> {
    return new Promise((resolve) => {
      this.#resolve = () => resolve(undefined);
    });
  }

  beat(): void {
    const now = performance.now();
    if (now - this.#last < shortestBeatMs) return;
    this.#last = now;
    this.#resolve?.();
  }
}

const pulses = new WeakMap<Response, Pulse>();

/** The pulse of an answer that came through `pulsingFetch`. */
export function pulseOf(response: Response): Pulse | undefined {
  return pulses.get(response);
}

/** `fetch`, its event streams with a pulse. */
export async function pulsingFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await sameOriginFetch(input, init);
  const { body } = response;
  if (!body || !response.headers.get("content-type")?.startsWith("text/event-stream")) return response;
  const pulse = new Pulse();
  // The SDKs iterate a body that is no ReadableStream; one more stream in between is dear at each step.
  Object.defineProperty(response, "body", { value: beating(body, pulse) });
  pulses.set(response, pulse);
  return response;
}

function beating(body: ReadableStream<Uint8Array>, pulse: Pulse): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const reader = body.getReader();
      return {
        async next() {
          const read = await reader.read();
          pulse.beat();
          return read.done ? { done: true, value: undefined } : read;
        },
        async return() {
          await reader.cancel();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
