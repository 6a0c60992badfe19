import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BlockRunner } from "./blockRunner.ts";
import { importSources, printedByComments, readExamples } from "./examples.ts";
import { temporaryFolder } from "./temporaryFolder.ts";

/**
 * Declares a test for each example of a README (a block that opens with ` ```ts title=NAME `): it runs as it stands, in a folder of
 * its own, ends well, prints nothing on standard error, and what it prints matches `expected[NAME]`, or is what its comments or the text below
 * it say. Those in `skipped` cannot run here.
 */
export function testReadme(
  readme: URL,
  expected: Readonly<Record<string, RegExp | "as its comments say" | "as shown below it">>,
  skipped: readonly string[] = [],
): void {
  const blocks = readExamples(readFileSync(readme, "utf8"));
  const examples = blocks.flatMap(({ language, title, code }, index) =>
    language === "ts" && title !== undefined ? [{ name: title, code, below: blocks[index + 1]?.code }] : [],
  );
  const runner = new BlockRunner(importSources);

  test("the README has an example for each thing it must show", () => {
    expect(examples.map(({ name }) => name)).toEqual(Object.keys(expected));
  });

  for (const { name, code, below } of examples) {
    test.skipIf(skipped.includes(name))(`the README's ${name} runs as it stands`, async () => {
      const folder = temporaryFolder("readme");
      writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
      writeFileSync(join(folder, name), code);
      const run = await runner.run(name, folder, process.env);
      expect(run).toMatchObject({ code: 0, errors: "" });
      const printed = expected[name];
      if (printed instanceof RegExp) expect(run.out).toMatch(printed);
      else expect(run.out).toBe(printed === "as shown below it" ? below : printedByComments(code));
    });
  }
}
