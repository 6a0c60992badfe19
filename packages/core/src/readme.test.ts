import { testReadme } from "@toolcrib/testing";

testReadme(new URL("../README.md", import.meta.url), {
  "weather.ts": "as its comments say",
  "guards.ts": "as its comments say",
  "timing.ts": "as its comments say",
  "spilled.ts": "as its comments say",
  "contracts.ts":
    /^breaking: read_note needs the argument "language", which was optional\. Callers that leave it out get an error\.\n$/,
});
