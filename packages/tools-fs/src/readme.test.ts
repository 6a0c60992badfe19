import { testReadme } from "@toolcrib/testing";

testReadme(new URL("../README.md", import.meta.url), {
  "deny.ts":
    /^main\.js\n\n\[left out: 1 denied name\]\nError .+: app\/\.env is on the list of denied paths; .+\nError .+: app holds paths .+\n$/,
  "readable.ts": /^# API\n\nError .+: \.\.\/library\/api\.md is outside .+\/project; use a path inside\n$/,
});
