import { afterAll, beforeAll, describe, test } from "vitest";
import { runFault } from "./wireFaultRun.ts";
import { wireFaults } from "./wireFaults.ts";
import { WireServer, wireFormats } from "./wireServer.ts";

let server: WireServer;
beforeAll(async () => {
  server = await WireServer.start();
});
afterAll(() => server.close());

describe.each(wireFormats)("after a fault of the %s wire the next request is a valid conversation", (format) => {
  const faults = wireFaults.filter(({ formats }) => formats?.includes(format) ?? true);
  for (const fault of faults) test(fault.name, () => runFault(server, format, true, fault));
});
