import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { modes, protectedPaths } from "./index.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
/** The page of the site with all that the README only names. */
const rules = readFileSync(new URL("../../../docs/src/content/docs/guides/rules.md", import.meta.url), "utf8");
const text = `${readme}\n${rules}`;
const examples = [...text.matchAll(/^```ts title=(\S+)\n([\s\S]*?)^```\n\n```text\n([\s\S]*?)^```$/gm)];
const sources = new URL("../../mcp/fixtures/sources.mjs", import.meta.url).href;

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "toolcrib-readme-")));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
});

afterEach(() => rmSync(folder, { recursive: true }));

test("each example of the README and its page is shown with its output", () => {
  expect(examples.map(([, name]) => name)).toEqual(["start.ts", "always.ts", "explain.ts", "denied.ts"]);
  expect(text.match(/^```ts/gm)).toHaveLength(examples.length);
});

for (const [, name = "", code = "", printed = ""] of examples) {
  test(`the example ${name} prints what is shown`, async () => {
    writeFileSync(join(folder, name), code);
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, ["--import", sources, name], { cwd: folder }, (_, out, err) => resolve(out + err));
    });
    expect(output).toBe(printed);
  });
}

test("the README names each mode, and its page most of what is protected", () => {
  for (const mode of modes) {
    expect(readme).toContain(`| \`${mode}\``);
    expect(rules).toContain(`| \`${mode}\``);
  }
  const table = rules.slice(rules.indexOf("## Protected paths"), rules.indexOf("## Answers"));
  const listed = protectedPaths.filter(({ pattern }) => table.includes(`\`${pattern}\``));
  expect(listed.length).toBeGreaterThan(40);
});
