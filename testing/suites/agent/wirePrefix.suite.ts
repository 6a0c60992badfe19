import { routeServices } from "@toolcrib/testing/routeServices";
import { sharedWireServer } from "@toolcrib/testing/sharedWireServer";
import { actionNames, checkTalk } from "@toolcrib/testing-agent/wirePrefix";
import { wireServices } from "@toolcrib/testing-agent/wireServices";
import fc from "fast-check";
import { test } from "vitest";

const server = await sharedWireServer();
routeServices(server);

const turns = 20;
const numRuns = Number(process.env.TOOLCRIB_ROUNDS ?? 2);

test.each(wireServices)(
  `with $title: whatever changes in ${turns} turns, the tools and words of the moment count, and appended changes keep the cache`,
  async (service) => {
    const plan = fc.array(fc.constantFrom(...actionNames), { minLength: turns, maxLength: turns });
    await fc.assert(
      fc.asyncProperty(plan, (names) => checkTalk(server, service, names)),
      { numRuns, endOnFailure: true },
    );
  },
);
