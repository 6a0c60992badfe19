import { sharedWireServer } from "@toolcrib/testing/sharedWireServer";
import { testFeatures } from "./wireFeatures.ts";
import { everydayServices } from "./wireServices.ts";

// The long suite takes the others.
testFeatures(await sharedWireServer(), everydayServices);
