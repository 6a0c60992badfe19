import { routeServices } from "@toolcrib/testing/routeServices";
import { sharedWireServer } from "@toolcrib/testing/sharedWireServer";
import { test } from "vitest";
import { actionNames, appendedServices, checkPrefix } from "./wirePrefix.ts";

const server = await sharedWireServer();
routeServices(server);

// Each once; the long suite takes them in any order.
test.each(appendedServices)(
  "with $title: whatever changes, a request begins with the bytes of the one before, which are read from the cache",
  (service) => checkPrefix(server, service, actionNames),
);
