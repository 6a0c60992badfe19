export { durable } from "./dbos/durable.ts";
