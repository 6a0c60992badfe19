export { durable } from "./dbos/durable.ts";
export type { DurableLimits, DurableOptions, ProviderLimit } from "./dbos/options.ts";
