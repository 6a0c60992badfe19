import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { format } from "node:util";
import { runInThisContext } from "node:vm";
import { temporaryFolder } from "@toolcrib/testing";
import { expect, test } from "vitest";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const examples = [...readme.matchAll(/^## (.+)$(?:(?!^## )[\s\S])*?^```ts\n([\s\S]*?)^```$/gm)].map(
  ([, title = "", code = ""]) => ({ title, code }),
);

const modules: Record<string, () => Promise<unknown>> = {
  "@toolcrib/core": () => import("./index.ts"),
  "@toolcrib/core/files": () => import("./files.ts"),
  "node:fs": () => import("node:fs"),
};

type Run = (load: (name: string) => Promise<unknown>, console: object) => Promise<void>;

test("the README shows a tool, guards and middleware", () => {
  expect(examples.map(({ title }) => title)).toEqual([
    "A tool and a registry",
    "Guards decide what runs",
    "Everything else is middleware",
    "Nothing lost",
  ]);
});

test.each(examples)("the README's example of $title prints what it says", async ({ code }) => {
  const folder = temporaryFolder("readme");
  const body = stripTypeScriptTypes(code)
    .replace(/^import (.+) from (".+");$/gm, "const $1 = await load($2);")
    .replace('"spilled"', JSON.stringify(join(folder, "spilled")));
  const run = runInThisContext(`(async (load, console) => { ${body}\n})`, { filename: "README.md" }) as Run;
  const printed: string[] = [];
  await run((name) => modules[name]?.() ?? Promise.reject(new Error(name)), {
    log: (...words: unknown[]) => printed.push(format(...words)),
  });
  // Behind the call, or on the line below it.
  const said = [...code.matchAll(/^console\.log\(.*\);(?: \/\/ (.*)|\n\/\/ (.*))?$/gm)];
  expect(printed).toEqual(said.map(([, beside, below]) => beside ?? below));
});
