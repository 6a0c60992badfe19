import { type AgentOptions, Agent as PlainAgent, type Provider } from "@toolcrib/agent";
import { createDefaultToolRegistry } from "./factory.ts";

/** The Agent of `@toolcrib/agent`, with the default tools where `options.tools` is not given. */
export class Agent extends PlainAgent {
  constructor(provider: Provider, options: AgentOptions = {}) {
    super(provider, { ...options, tools: options.tools ?? createDefaultToolRegistry });
  }
}
