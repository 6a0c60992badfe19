import { afterAll, beforeEach } from "vitest";
import { WireServer } from "./wireServer.ts";

/** Starts a server for all tests of a file. It is reset before each of them, and closed after the last. */
export async function sharedWireServer(): Promise<WireServer> {
  const server = await WireServer.start();
  beforeEach(() => server.reset());
  afterAll(() => server.close());
  return server;
}
