import { testReadme } from "@toolcrib/testing";

testReadme(new URL("../README.md", import.meta.url), {
  "include.ts": /^src\/a\.ts:2\ntest\/a\.ts:2\nsrc\/a\.ts\ntest\/a\.ts\n$/,
});

testReadme(new URL("../../../docs/src/content/docs/tools/searching.md", import.meta.url), {
  "deny.ts": /^deny\.ts:\d.*\n(?:.*\n)*main\.js:1:use\(TOKEN\)\n\n\[left out: 1 denied name\]\n$/,
});
