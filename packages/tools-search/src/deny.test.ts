import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { sharedFolder } from "@toolcrib/testing";
import { beforeAll, describe, expect, test } from "vitest";
import type { SearchJob } from "./engine/job.ts";
import type { SearchOptions } from "./options.ts";
import { createSearchTools } from "./search.ts";
import { runSearch } from "./threads/runSearch.ts";
import { createSearchPool } from "./threads/searchPool.ts";

const root = sharedFolder("search-deny");
const library = sharedFolder("search-library");

beforeAll(() => {
  mkdirSync(join(root, "app/keys"), { recursive: true });
  mkdirSync(join(root, "free"));
  writeFileSync(join(root, ".env"), "needle\n");
  writeFileSync(join(root, "app/keys/a.pem"), "needle\n");
  writeFileSync(join(root, "app/keys/b.txt"), "needle\n");
  writeFileSync(join(root, "app/main.ts"), "needle\n");
  symlinkSync("../.env", join(root, "free/alias"));
  symlinkSync("app", join(root, "link"));
  writeFileSync(join(library, "book"), "needle\n");
});

function registryWith(options: SearchOptions): ToolRegistry {
  return new ToolRegistry(createSearchTools({ root, cwd: root, ...options }));
}

const deny = [".ENV", "*.pem"];

test("denied files are neither found nor searched, and the reply says that names were left out", async () => {
  const registry = registryWith({ deny });
  const text = (args: Record<string, unknown>): Promise<string> =>
    registry.execute("search_text", { query: "needle", ...args });
  expect(await text({ paths: ["."] })).toBe(
    "app/keys/b.txt:1:needle\napp/main.ts:1:needle\n\n[left out: 2 denied names]",
  );
  expect(await text({ paths: ["."], include: "*.pem" })).toBe(
    "No matches for needle in files that match *.pem\n\n[left out: 2 denied names]",
  );
  expect(await text({ paths: ["app"], mode: "count" })).toBe(
    "app/keys/b.txt:1\napp/main.ts:1\n\n[left out: 1 denied name]",
  );
  const files = (pattern: string): Promise<string> => registry.execute("search_files", { pattern });
  expect(await files("**")).toBe("app/keys/b.txt\napp/main.ts\n\n[left out: 2 denied names]");
  expect(await files("app/keys/a.pem")).toContain("No files match");
  expect(await files(".env")).toContain("No files match");
  expect(await registryWith({}).execute("search_files", { pattern: "**/*.pem" })).toBe("app/keys/a.pem");
});

test("a denied directory is not entered", async () => {
  const registry = registryWith({ deny: ["app/keys/"] });
  expect(await registry.execute("search_files", { pattern: "app/**" })).toBe(
    "app/main.ts\n\n[left out: 1 denied name]",
  );
  expect(await registry.execute("search_text", { query: "needle", paths: ["link"] })).toBe(
    "app/main.ts:1:needle\n\n[left out: 1 denied name]",
  );
});

test.each([".env", "free/alias", "free/../.Env", "app/keys/a.pem", "link/keys/a.pem", "new.pem"])(
  "%s is refused by name",
  async (path) => {
    const registry = registryWith({ deny });
    const denied = /Permission denied: .+ is on the list of denied paths; use another path$/;
    expect(await registry.execute("search_text", { query: "needle", paths: ["app", path] })).toMatch(denied);
    expect(await registry.execute("search_files", { pattern: "*", cwd: path })).toMatch(denied);
  },
);

test("readable directories outside the root are searched, with absolute paths", async () => {
  const registry = registryWith({ readable: library });
  expect(await registry.execute("search_text", { query: "needle", paths: [library] })).toBe(`${library}/book:1:needle`);
  expect(await registry.execute("search_files", { pattern: "*", cwd: library })).toBe(`${library}/book`);
  expect(await registryWith({}).execute("search_files", { pattern: "*", cwd: library })).toContain("is outside");
});

describe("a search whose start was checked before", () => {
  const search = (job: Partial<SearchJob>) =>
    runSearch(
      createSearchPool(),
      {
        starts: [{ path: root, shown: "", isDirectory: true }],
        ...{
          query: { text: "needle", regex: false, caseSensitive: true },
          globs: undefined,
          mode: "lines",
          context: 0,
        },
        ...{ limit: 100, maxBytes: 10_000, roots: [root], deny: { patterns: deny, roots: [root] } },
        ...job,
      },
      { signal: undefined, matchLimitMs: Infinity },
    );

  test.each([
    ["a directory", "link", true],
    ["a file below one", "link/main.ts", false],
  ])("%s that became a link since it was checked is not followed", async (_, path, isDirectory) => {
    const starts = [{ path: join(root, path), shown: path, isDirectory }];
    const job = { starts, roots: undefined, deny: { patterns: ["app"], roots: [root] } };
    expect(await search(job)).toMatchObject({ text: "" });
    expect((await search({ ...job, deny: undefined })).text).toContain("needle");
  });
});
