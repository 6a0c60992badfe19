export type { Address } from "./address.ts";
export { type ConnectedTools, connectTools } from "./connectTools.ts";
export { RemoteError } from "./errors.ts";
export type { RemoteOptions } from "./frames.ts";
export type { Session } from "./sessionChannel.ts";
