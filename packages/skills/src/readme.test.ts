import { testReadme } from "@toolcrib/testing";

testReadme(new URL("../README.md", import.meta.url), { "skills.ts": "as its comments say" });
