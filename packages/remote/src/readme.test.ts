import { testReadme } from "@toolcrib/testing";

testReadme(new URL("../README.md", import.meta.url), { "remote.ts": /package\.json\n$/ });
