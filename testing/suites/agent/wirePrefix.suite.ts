import { routeServices } from "@toolcrib/testing/routeServices";
import { sharedWireServer } from "@toolcrib/testing/sharedWireServer";
import { actionNames, appendedServices, checkPrefix } from "@toolcrib/testing-agent/wirePrefix";
import fc from "fast-check";
import { test } from "vitest";

const server = await sharedWireServer();
routeServices(server);

const turns = 20;
const numRuns = Number(process.env.TOOLCRIB_ROUNDS ?? 2);

test.each(appendedServices)(
  `with $title: whatever changes in ${turns} turns, a request begins with the bytes of the one before, which are read from the cache`,
  async (service) => {
    const plan = fc.array(fc.constantFrom(...actionNames), { minLength: turns, maxLength: turns });
    await fc.assert(
      fc.asyncProperty(plan, (names) => checkPrefix(server, service, names)),
      { numRuns, endOnFailure: true },
    );
  },
);
