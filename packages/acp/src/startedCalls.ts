import type { AnyToolRegistry } from "@toolcrib/core";

type Listener = (callId: string) => void;

/** Listeners by the id of their session: a registry may serve several, and keeps its middleware for good. */
const listeners = new WeakMap<AnyToolRegistry, Map<string, Listener>>();

/** Returns the labels that the calls of a session carry. */
export function labelsOf(sessionId: string): { readonly sessionId: string } {
  return { sessionId };
}

/** Tells when a call of a session really starts: no guard, user or check has refused it. Returns the way to stop. */
export function onCallStart(registry: AnyToolRegistry, sessionId: string, listener: Listener): () => void {
  const known = listeners.get(registry) ?? watch(registry);
  known.set(sessionId, listener);
  return () => {
    if (known.get(sessionId) === listener) known.delete(sessionId);
  };
}

function watch(registry: AnyToolRegistry): Map<string, Listener> {
  const known = new Map<string, Listener>();
  listeners.set(registry, known);
  registry.use((call, next) => {
    const { callId, labels, beforeRun } = call;
    const listener = typeof labels?.sessionId === "string" ? known.get(labels.sessionId) : undefined;
    if (callId === undefined || !listener) return next(call);
    return next({
      ...call,
      beforeRun: async (args) => {
        await beforeRun?.(args);
        listener(callId);
      },
    });
  });
  return known;
}
