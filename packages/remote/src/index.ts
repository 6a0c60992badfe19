export type { Address, CommandAddress } from "./address.ts";
export { type ConnectedTools, type ConnectToolsOptions, connectTools } from "./connectTools.ts";
export { RemoteError } from "./errors.ts";
export type { RemoteChange, RemoteOptions } from "./frames.ts";
export type { DaytonaSandbox, E2BSandbox, Session, SessionProcess, SpawningSession } from "./sessionChannel.ts";
