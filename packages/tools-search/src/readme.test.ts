import { testReadme } from "@toolcrib/testing";

testReadme(new URL("../README.md", import.meta.url), {
  "deny.ts": /^deny\.ts:\d.*\n(?:.*\n)*main\.js:1:use\(TOKEN\)\n\n\[left out: 1 denied name\]\n$/,
});
