import { testReadme } from "@toolcrib/testing";

testReadme(new URL("../README.md", import.meta.url), { "orders.ts": /^largest: 500\n\{"orders":50,"sum":12750\}\n$/ });
