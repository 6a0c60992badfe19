import { sharedWireServer } from "@toolcrib/testing/sharedWireServer";
import { wireFaults } from "@toolcrib/testing/wireFaults";
import { wireFormats } from "@toolcrib/testing/wireServer";
import { describe, test } from "vitest";
import { runFault } from "../../../packages/agent/testing/wireFaultRun.ts";

const server = await sharedWireServer();

// The long suite asks about those that end by a time limit, and about replies that are not streamed.
describe.each(wireFormats)("after a fault of the %s wire the next request is a valid conversation", (format) => {
  const faults = wireFaults.filter(({ formats, silent }) => !silent && (formats?.includes(format) ?? true));
  for (const fault of faults) test(fault.name, () => runFault(server, format, true, fault));
});
