export { durable } from "./dbos/durable.ts";
export type { DurableLimits, DurableOptions } from "./dbos/options.ts";
export type { ProviderLimit } from "./dbos/requestLimits.ts";
