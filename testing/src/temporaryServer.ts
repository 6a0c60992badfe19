import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, onTestFinished } from "vitest";

/** Starts an HTTP server on this machine for a test, or from its `beforeEach`; resolves to its URL. It is closed when the test is over. */
export async function temporaryServer(answer: RequestListener): Promise<string> {
  const { url, close } = await start(answer);
  onTestFinished(close);
  return url;
}

/** Starts one for all tests of a file, which calls this. It is closed after the last of them. */
export async function sharedServer(answer: RequestListener): Promise<string> {
  const { url, close } = await start(answer);
  afterAll(close);
  return url;
}

async function start(answer: RequestListener): Promise<{ url: string; close: () => void }> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
