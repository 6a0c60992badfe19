export { createDefaultToolRegistry } from "./factory.ts";
export type { DefaultToolOptions } from "./options.ts";
