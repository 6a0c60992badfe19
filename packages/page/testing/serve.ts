import { temporaryServer } from "@toolcrib/testing";
import type { PageHandler } from "../src/index.ts";
import { listenerOf } from "./listenerOf.ts";

/** Serves a handler on loopback for the rest of the test; resolves to its URL. */
export async function serve(handler: PageHandler): Promise<string> {
  return await temporaryServer(listenerOf(handler));
}
