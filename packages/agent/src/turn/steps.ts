import { isAgentError } from "../errors.ts";
import type { AgentEvent } from "../messages.ts";

/**
 * The work of a turn as a plain generator, which yields events and the promises that it waits for. Async generators inside each
 * other would pass each event through several promises a level.
 */
export type Steps<Result = void> = Generator<AgentEvent | Promise<unknown>, Result, unknown>;

/** `await` inside of steps. */
export function* until<T>(promise: Promise<T>): Steps<T> {
  return (yield promise) as T;
}

/** The steps behind streams of events that nobody has begun to read. */
const unread = new WeakMap<AsyncIterable<AgentEvent>, Steps>();

/** The events of steps, which go on as events are asked for. Leaving the iteration ends the steps. */
export function eventsOf(steps: Steps): AsyncGenerator<AgentEvent, void> {
  const events = read(steps, () => unread.delete(events));
  unread.set(events, steps);
  return events;
}

/** Passes every event to `onEvent`. Where nobody reads the events one by one, no event waits for a reader. */
export async function readAll(events: AsyncIterable<AgentEvent>, onEvent: (event: AgentEvent) => void): Promise<void> {
  const steps = unread.get(events);
  unread.delete(events);
  if (steps) await runSteps(steps, onEvent);
  else for await (const event of events) onEvent(event);
}

/** Runs steps to their end. */
export async function runSteps(steps: Steps<unknown>, onEvent: (event: AgentEvent) => void): Promise<void> {
  await advance(steps, steps.next(), onEvent);
}

async function* read(steps: Steps, onStart: () => void): AsyncGenerator<AgentEvent, void> {
  onStart();
  try {
    for (;;) {
      const event = await advance(steps, steps.next());
      if (!event) return;
      yield event;
    }
  } finally {
    await advance(steps, steps.return(), () => {}).catch(throwUnlessAborted);
  }
}

/** Who leaves the stream ends the turn: its end is no failure. */
function throwUnlessAborted(error: unknown): void {
  if (!(isAgentError(error) && error.code === "aborted")) throw error;
}

/** Waits for what the steps wait for, up to their next event; up to their end where events go to `onEvent`. */
async function advance(
  steps: Steps<unknown>,
  first: IteratorResult<AgentEvent | Promise<unknown>, unknown>,
  onEvent?: (event: AgentEvent) => void,
): Promise<AgentEvent | undefined> {
  let next = first;
  while (!next.done) {
    const { value } = next;
    // By its shape too: a promise may be of another realm.
    if (value instanceof Promise || !("type" in value)) {
      let result: unknown;
      try {
        result = await value;
      } catch (error) {
        next = steps.throw(error);
        continue;
      }
      next = steps.next(result);
    } else if (onEvent) {
      onEvent(value);
      next = steps.next();
    } else return value;
  }
  return undefined;
}
