import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

interface Manifest {
  version: string;
  private?: boolean;
  scripts?: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

const here = fileURLToPath(new URL(".", import.meta.url));
/** A small product has a page, too. */
const longest = (example: string): number => (example === "web-chat" ? 850 : 120);
/** Everything but the example's own source, and the style of a page. */
const surroundings = /\.test\.ts$|^(?:README\.md|package\.json|tsconfig\.json|page\.css|node_modules|skills)$/;

const examples = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== "node_modules")
  .map(({ name }) => name);
const read = (...path: string[]): string => readFileSync(join(here, ...path), "utf8");
const manifestOf = (folder: string): Manifest => JSON.parse(read(folder, "package.json")) as Manifest;
const optionsOf = (folder: string): Record<string, unknown> =>
  (JSON.parse(read(folder, "tsconfig.json")) as { compilerOptions: Record<string, unknown> }).compilerOptions;
const linesOf = (text: string): number => text.split("\n").length - 1;

test("there are eleven", () => {
  expect(examples).toHaveLength(11);
});

describe.each(examples)("%s", (example) => {
  const files = readdirSync(join(here, example));

  test("has a program, a test, and a README that the list names", () => {
    expect(files).toContain("main.ts");
    expect(files.some((file) => file.endsWith(".test.ts"))).toBe(true);
    for (const part of ["npm install", "It shows:", "To adapt it, first change"])
      expect(read(example, "README.md")).toContain(part);
    expect(read("README.md")).toContain(`| [${example}](${example}) |`);
  });

  test(`has fewer than ${longest(example)} lines of source`, () => {
    const sources = files.filter((file) => !surroundings.test(file));
    expect(sources.reduce((sum, file) => sum + linesOf(read(example, file)), 0)).toBeLessThan(longest(example));
  });

  test("can be copied: its manifest names versions that this workspace has", () => {
    const { private: isPrivate, scripts, dependencies, devDependencies } = manifestOf(example);
    expect({ isPrivate, scripts }).toEqual({
      isPrivate: true,
      scripts: { start: "node main.ts", test: "vitest run", types: "tsc" },
    });
    for (const [name, range] of Object.entries({ ...dependencies, ...devDependencies })) {
      const own = /^@toolcrib\/(.+)$/.exec(name)?.[1];
      expect(range).toEqual(
        own === undefined ? expect.stringMatching(/^\^?\d/) : `^${manifestOf(`../packages/${own}`).version}`,
      );
    }
  });

  test("chooses a model as the others do, and is checked by the same options", () => {
    const { jsx: _, ...options } = optionsOf(example);
    expect(options).toEqual(optionsOf("review-diff"));
    if (files.includes("model.ts")) expect(read(example, "model.ts")).toBe(read("review-diff/model.ts"));
  });
});
