import { sharedWireServer } from "@toolcrib/testing/sharedWireServer";
import { testFeatures } from "@toolcrib/testing-agent/wireFeatures";
import { everydayServices, wireServices } from "@toolcrib/testing-agent/wireServices";

// `npm test` asks those of every day.
testFeatures(
  await sharedWireServer(),
  wireServices.filter((service) => !everydayServices.includes(service)),
);
