export { Agent } from "./agent.ts";
export { createDefaultToolRegistry, type DefaultToolOptions } from "./factory.ts";
