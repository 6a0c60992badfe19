import { testReadme } from "@toolcrib/testing";

testReadme(new URL("../README.md", import.meta.url), {
  "scope.ts": "as its comments say",
  "spilled.ts": "as its comments say",
});
