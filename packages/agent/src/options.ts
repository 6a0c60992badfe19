import type { ToolContext, ToolRegistry } from "@toolcrib/core";
import type { CompactionOptions } from "./compaction.ts";
import { AgentError } from "./errors.ts";
import type { LoopLimits } from "./loopState.ts";
import type { Provider } from "./provider.ts";

/** Options of an Agent; all have defaults. */
export interface AgentOptions extends Partial<LoopLimits> {
  /** The tools as they are, or a function that makes them for the agent's context. Default: `save_session_context` alone. */
  readonly tools?: ToolRegistry | ((context: ToolContext) => ToolRegistry) | undefined;
  readonly systemPrompt?: string | undefined;
  /** Where `save_session_context` writes. Default: `.toolcrib/session.json` in the working directory. */
  readonly sessionContextFilePath?: string | undefined;
  /** How room is made in a long conversation. Default: not at all. */
  readonly compaction?: CompactionOptions | undefined;
  /** A file that keeps the session as it grows, safe against a crash; `Agent.resume` continues it. Must not exist yet. */
  readonly journal?: string | undefined;
  /** A name for the journal, for listings. */
  readonly sessionName?: string | undefined;
}

export const defaultSessionFile = ".toolcrib/session.json";

const defaultLimits: LoopLimits = {
  maxSteps: 50,
  maxToolResultBytes: 256 * 1024,
  attempts: 5,
  baseDelayMs: 500,
  maxDelayMs: 60_000,
  requestTimeoutMs: 600_000,
  idleTimeoutMs: 90_000,
};

/** The limits with their defaults; throws `invalid_option` for one that is not above 0. */
export function limitsOf(options: AgentOptions): LoopLimits {
  const names = Object.keys(defaultLimits) as (keyof LoopLimits)[];
  return Object.fromEntries(
    names.map((name) => {
      const value = options[name] ?? defaultLimits[name];
      if (typeof value === "number" && value > 0) return [name, value];
      const received = typeof value === "string" ? JSON.stringify(value) : String(value);
      throw invalidOption(
        `${name} must be a number above 0, received ${received}; leave it out for ${defaultLimits[name]}.`,
      );
    }),
  ) as unknown as LoopLimits;
}

/** Throws `invalid_option` for what is no Provider: a class, say, in place of what it makes. */
export function checkProvider(provider: Provider): void {
  if (typeof (provider as Partial<Provider> | undefined)?.send === "function") return;
  const example = 'as in new Agent(new OfflineProvider()) with the OfflineProvider of "@toolcrib/agent/offline"';
  throw invalidOption(`An Agent needs a provider, an object with name, model and send(request), ${example}.`);
}

/** Throws `invalid_option` for tools that are no registry. */
export function checkedTools(tools: ToolRegistry): ToolRegistry {
  if (typeof (tools as Partial<ToolRegistry> | undefined)?.getEnabledSchemas === "function") return tools;
  throw invalidOption(
    "tools must be a ToolRegistry, or a function of the context that returns one: register tools in it.",
  );
}

function invalidOption(message: string): AgentError {
  return new AgentError({ code: "invalid_option", message });
}
