import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const sources = new URL("../../packages/mcp/fixtures/sources.mjs", import.meta.url).href;

/**
 * Declares a test for each example of a README (a block that opens with ` ```ts title=NAME `): it runs as it stands, in a folder of
 * its own, prints nothing on standard error, and what it prints matches `expected[NAME]`.
 */
export function testReadme(readme: URL, expected: Readonly<Record<string, RegExp>>): void {
  const text = readFileSync(readme, "utf8");
  const examples = [...text.matchAll(/^```ts title=(\S+)\n([\s\S]*?)^```$/gm)];
  let base: string;
  beforeAll(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "toolcrib-readme-")));
  });
  afterAll(() => rmSync(base, { recursive: true, force: true }));

  test("the README has an example for each thing it must show", () => {
    expect(examples.map(([, name]) => name)).toEqual(Object.keys(expected));
  });

  for (const [, name = "", code = ""] of examples) {
    test(`the README's ${name} runs as it stands`, async () => {
      const folder = mkdtempSync(join(base, "example-"));
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
