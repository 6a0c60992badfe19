import type { Message } from "../../messages.ts";

/** Maps each message once and keeps the result: messages never change. */
export function memoize<Wire>(map: (message: Message) => Wire): (message: Message) => Wire {
  const kept = new WeakMap<Message, Wire>();
  return (message) => {
    const known = kept.get(message);
    if (known !== undefined) return known;
    const wire = map(message);
    kept.set(message, wire);
    return wire;
  };
}
