import { routeServices } from "@toolcrib/testing/routeServices";
import { sharedWireServer } from "@toolcrib/testing/sharedWireServer";
import { describe, test } from "vitest";
import { actionNames, checkTalk, unchanging } from "./wirePrefix.ts";
import { wireServices } from "./wireServices.ts";

const server = await sharedWireServer();
routeServices(server);

// Each once; the long suite takes them in any order.
describe.each(wireServices)("with $title", (service) => {
  test("a conversation that goes on, in another process too and after questions, loses nothing", () =>
    checkTalk(server, service, [...unchanging, "talk"]));

  test("whatever changes, it has the tools and words of the moment, and is read from the cache where changes are appended", () =>
    checkTalk(server, service, [...actionNames, "toggle"]));
});
