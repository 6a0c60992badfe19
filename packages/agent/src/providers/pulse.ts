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
  const response = await fetch(input, init);
  if (!response.body || !response.headers.get("content-type")?.startsWith("text/event-stream")) return response;
  const pulse = new Pulse();
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      pulse.beat();
      controller.enqueue(chunk);
    },
  });
  const watched = new Response(response.body.pipeThrough(counter), response);
  pulses.set(watched, pulse);
  return watched;
}
