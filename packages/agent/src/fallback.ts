import { AgentError, type AgentErrorCode, isAgentError } from "./errors.ts";
import type { Provider } from "./provider.ts";

const failuresBeforeSwitch = 2;

/** The failures after which the next provider is tried; `at-once` where trying the same one again cannot help. */
const switching: Partial<Record<AgentErrorCode, "at-once" | "after-failures">> = {
  authentication: "at-once",
  not_found: "at-once",
  missing_key: "at-once",
  missing_sdk: "at-once",
  rate_limit: "after-failures",
  server: "after-failures",
  network: "after-failures",
  timeout: "after-failures",
};

/**
 * Makes one provider of several. The first serves until it fails for good or twice in a row, then the next, and so on; it
 * does not go back. The agent sees each switch as a failure to retry, so nothing is shown or run twice.
 */
export function fallbackProvider(first: Provider, ...others: readonly Provider[]): Provider {
  const waiting = [...others];
  let current = first;
  let failures = 0;
  return {
    get name() {
      return current.name;
    },
    get model() {
      return current.model;
    },
    // A turn may go on with any of them.
    abilities: {
      forcedTools: [first, ...others].every(({ abilities }) => abilities?.forcedTools ?? true),
      answersBy: (schema) => [first, ...others].every(({ abilities }) => abilities?.answersBy(schema) ?? false),
    },
    async *send(request) {
      try {
        yield* current.send(request);
        failures = 0;
      } catch (error) {
        if (!isAgentError(error)) throw error;
        const when = switching[error.code];
        failures += 1;
        const mayPass = when === "after-failures" && error.retryable;
        if (when === undefined || (mayPass && failures < failuresBeforeSwitch)) throw error;
        const next = waiting.shift();
        if (!next) throw error;
        current = next;
        failures = 0;
        const message = `${error.message} Continuing with ${next.name}/${next.model}.`;
        throw new AgentError({ code: error.code, message, cause: error, retryable: true, retryAfterMs: 0 });
      }
    },
  };
}
