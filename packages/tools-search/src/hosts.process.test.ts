import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sharedFolder } from "@toolcrib/testing";
import { beforeAll, describe, expect, test } from "vitest";

// What is bundled and run here are the built files.
const built = fileURLToPath(new URL("../dist/index.js", import.meta.url));
const worker = fileURLToPath(new URL("../dist/searchWorker.mjs", import.meta.url));

interface Esbuild {
  buildSync(options: Record<string, unknown>): unknown;
}
const require = createRequire(import.meta.url);
const esbuild = createRequire(require.resolve("tsup"))("esbuild") as Esbuild;

/** Calls in turn, and prints what each answered as JSON. Nothing else may be printed. */
const program = `
  import { createSearchTools } from ${JSON.stringify(built)};
  const [text, files] = createSearchTools({ cwd: process.argv[2] });
  const answers = [];
  const call = (tool, args) => tool.execute({ paths: ["."], ...args }).then(String).catch((error) => error.message);
  const run = async () => {
    answers.push(await call(text, { query: "needle" }));
    answers.push(...await Promise.all(Array.from({ length: 5 }, () => call(text, { query: "ne+dle", regex: true, include: "*.{txt,md}" }))));
    const { paths, ...glob } = { pattern: "**/*.txt" };
    answers.push(await files.execute(glob).then(String).catch((error) => error.message));
    answers.push(await call(text, { query: "(x+x+)+y", regex: true }));
    answers.push(await files.execute({ pattern: "+(a|b)" }).then(String).catch((error) => error.message));
    console.log(JSON.stringify(answers));
  };
  run();
`;

const found = "d/b.txt:2:needle";
const plainAnswers = [found, found, found, found, found, found, "a.txt\nd/b.txt"];
const threadAnswers = [
  ...plainAnswers,
  "No matches for (x+x+)+y\n\n[ignored, so not searched: ignored.txt; to search it, pass it in paths]",
  "No files match +(a|b); use **/+(a|b) to look at any depth",
];

const base = sharedFolder("search-hosts");
beforeAll(() => {
  mkdirSync(join(base, "tree/d"), { recursive: true });
  writeFileSync(join(base, "tree/.gitignore"), "ignored.txt\n");
  for (const [name, content] of Object.entries({
    "a.txt": "hay",
    "d/b.txt": "hay\nneedle\n",
    "ignored.txt": "needle",
  })) {
    writeFileSync(join(base, "tree", name), content);
  }
  writeFileSync(join(base, "program.mjs"), program);
  const bundle = { entryPoints: [join(base, "program.mjs")], bundle: true, platform: "node", logLevel: "error" };
  for (const [format, outfile] of [
    ["esm", "esm/out.mjs"],
    ["esm", "beside/out.mjs"],
    ["cjs", "cjs/out.cjs"],
  ] as const) {
    esbuild.buildSync({
      ...bundle,
      format,
      outfile: join(base, outfile),
      logOverride: { "empty-import-meta": "silent" },
    });
  }
  writeFileSync(join(base, "package.json"), '{ "type": "commonjs" }');
  spawnSync("cp", [worker, join(base, "beside")]);
});

function run(file: string, flags: string[] = []): { answers: string[]; stderr: string; status: number | null } {
  const child = spawnSync(process.execPath, [...flags, join(base, file), join(base, "tree")], { encoding: "utf8" });
  return { answers: JSON.parse(child.stdout || "[]") as string[], stderr: child.stderr, status: child.status };
}

test("threads search under plain node, and from a bundle next to the worker's file", () => {
  for (const file of ["program.mjs", "beside/out.mjs"]) {
    expect(run(file)).toEqual({ answers: threadAnswers, stderr: "", status: 0 });
  }
});

test("a program of searches for literal text in a small tree needs no thread, and starts none", () => {
  const literal = `
    import { createSearchTextTool } from ${JSON.stringify(built)};
    const tool = createSearchTextTool({ cwd: process.argv[2] });
    for (let time = 0; time < 3; time += 1) await tool.execute({ paths: ["."], query: "needle", include: "*.{txt,md}" });
    await tool.execute({ paths: ["."], query: "ne+dle", regex: true });
    setTimeout(() => console.log("[]"), 500);
  `;
  writeFileSync(join(base, "literal.mjs"), literal);
  for (const flags of [[], ["--permission", "--allow-fs-read=*"]]) {
    expect(run("literal.mjs", flags)).toEqual({ answers: [], stderr: "", status: 0 });
  }
});

describe("without threads a search runs on the main thread, with one warning", () => {
  test.each([
    [
      "under the permission model",
      "program.mjs",
      ["--permission", "--allow-fs-read=*"],
      "start node with --allow-worker",
    ],
    ["in a bundle of one module", "esm/out.mjs", [], "searchWorker.mjs of @toolcrib/tools-search is not beside"],
    ["in a bundle of one CommonJS file", "cjs/out.cjs", [], "searchWorker.mjs of @toolcrib/tools-search is not beside"],
  ])("%s", (_, file, flags, reason) => {
    const { answers, stderr, status } = run(file, flags);
    expect(status).toBe(0);
    expect(answers.slice(0, -2)).toEqual(plainAnswers);
    for (const answer of answers.slice(-2)) {
      expect(answer).toMatch(/^Not searched: .* could run for very long, and no thread can be started: /);
      expect(answer).toContain(reason);
      expect(answer).toMatch(/ Here pass a (literal|glob)[^.]*.*\.$/);
    }
    expect(stderr.match(/TOOLCRIB_SEARCH_THREADS/g)).toHaveLength(1);
    expect(stderr).toContain(reason);
  });
});
