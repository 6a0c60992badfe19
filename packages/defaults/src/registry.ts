export { createDefaultToolRegistry } from "./factory.ts";
