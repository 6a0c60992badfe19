import { testReadme } from "@toolcrib/testing";

testReadme(new URL("../README.md", import.meta.url), {
  "weather.ts": "as its comments say",
  "guards.ts": "as its comments say",
  "timing.ts": "as its comments say",
});
