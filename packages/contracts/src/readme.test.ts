import { testReadme } from "@toolcrib/testing";

testReadme(new URL("../README.md", import.meta.url), {
  "contracts.ts":
    /^breaking: read_note needs the argument "language", which was optional\. Callers that leave it out get an error\.\n$/,
});
