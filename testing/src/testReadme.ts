import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readExamples } from "./examples.ts";
import { temporaryFolder } from "./temporaryFolder.ts";

const sources = new URL("../../packages/mcp/fixtures/sources.mjs", import.meta.url).href;

/**
 * Declares a test for each example of a README (a block that opens with ` ```ts title=NAME `): it runs as it stands, in a folder of
 * its own, prints nothing on standard error, and what it prints matches `expected[NAME]`. Those in `skipped` cannot run here.
 */
export function testReadme(
  readme: URL,
  expected: Readonly<Record<string, RegExp>>,
  skipped: readonly string[] = [],
): void {
  const examples = readExamples(readFileSync(readme, "utf8")).flatMap(({ language, title, code }) =>
    language === "ts" && title !== undefined ? [{ name: title, code }] : [],
  );

  test("the README has an example for each thing it must show", () => {
    expect(examples.map(({ name }) => name)).toEqual(Object.keys(expected));
  });

  for (const { name, code } of examples) {
    test.skipIf(skipped.includes(name))(`the README's ${name} runs as it stands`, async () => {
      const folder = temporaryFolder("readme");
      writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
      writeFileSync(join(folder, name), code);
      const printed = await new Promise<{ out: string; errors: string }>((resolve) => {
        execFile(process.execPath, ["--import", sources, name], { cwd: folder }, (_, out, errors) =>
          resolve({ out, errors }),
        );
      });
      expect(printed.errors).toBe("");
      expect(printed.out).toMatch(expected[name] ?? /never/);
    });
  }
}
