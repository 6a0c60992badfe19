import { readFileSync } from "node:fs";
import { testReadme } from "@toolcrib/testing/testReadme";
import { expect, test } from "vitest";
import { modes, protectedPaths } from "./index.ts";

const readmeUrl = new URL("../README.md", import.meta.url);
/** The page of the site with all that the README only names. */
const rulesUrl = new URL("../../../docs/src/content/docs/guides/rules.md", import.meta.url);
const [readme, rules] = [readmeUrl, rulesUrl].map((url) => readFileSync(url, "utf8")) as [string, string];
const shown = "as shown below it";

testReadme(readmeUrl, { "start.ts": shown });
testReadme(rulesUrl, { "denied.ts": shown, "always.ts": shown });

test("each block of code is a program that runs", () => {
  expect(`${readme}${rules}`.match(/^```ts(?! title=)/gm)).toBeNull();
});

test("the README names each mode, and its page most of what is protected", () => {
  for (const mode of modes) {
    expect(readme).toContain(`| \`${mode}\``);
    expect(rules).toContain(`| \`${mode}\``);
  }
  const table = rules.slice(rules.indexOf("## Protected paths"), rules.indexOf("## Answers"));
  const listed = protectedPaths.filter(({ pattern }) => table.includes(`\`${pattern}\``));
  expect(listed.length).toBeGreaterThan(40);
});
