import { type AgentOptions, Agent as PlainAgent, type Provider } from "@toolcrib/agent";
import { isPlainObject } from "@toolcrib/core/internal";
import { createDefaultToolRegistry } from "./factory.ts";
import { optionSpecs } from "./options.ts";

/**
 * The Agent of `@toolcrib/agent`, with the default tools unless `options.tools` is given. Throws a TypeError for an option of the
 * tools (`root`, say), which would have no effect here.
 */
export class Agent extends PlainAgent {
  constructor(provider: Provider, options: AgentOptions = {}) {
    const misplaced = Object.keys(options ?? {}).find((key) => Object.hasOwn(optionSpecs, key));
    if (misplaced !== undefined) {
      throw new TypeError(
        `Agent: ${misplaced} is an option of createDefaultToolRegistry; ` +
          `pass { tools: (context) => createDefaultToolRegistry(context, { ${misplaced}: … }) }`,
      );
    }
    // `tools: undefined` overrides the default, so that the Agent refuses it.
    super(provider, isPlainObject(options) ? { tools: createDefaultToolRegistry, ...options } : options);
  }
}
