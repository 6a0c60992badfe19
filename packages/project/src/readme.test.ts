import { testReadme } from "@toolcrib/testing";

testReadme(new URL("../README.md", import.meta.url), {
  "config.ts": /^\{ 'limits\.steps': 20 \}\nnew\ntrusted changed\n\{ model: 'offline' \}\n$/,
});
