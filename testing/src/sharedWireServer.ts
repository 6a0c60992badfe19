import { afterAll, afterEach, beforeEach, expect } from "vitest";
import { WireServer } from "./wireServer.ts";

/** Starts a server for all tests of a file. It is reset before each of them, which fails if the service refused or lost something, and closed after the last. */
export async function sharedWireServer(): Promise<WireServer> {
  const server = await WireServer.start();
  beforeEach(() => server.reset());
  afterEach(() => expect(server.takeProblems()).toEqual([]));
  afterAll(() => server.close());
  return server;
}
