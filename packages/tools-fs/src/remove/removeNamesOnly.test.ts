import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { afterAll, expect, test, vi } from "vitest";

vi.mock("node:fs", async (importOriginal) => {
  const fs = await importOriginal<typeof import("node:fs")>();
  return {
    ...fs,
    // Like Bun, when names are asked for as bytes.
    opendirSync: (...given: Parameters<typeof fs.opendirSync>) => {
      const listing = fs.opendirSync(...given);
      return { readSync: () => listing.readSync()?.name ?? null, closeSync: () => listing.closeSync() };
    },
  };
});

// Test files share a process: the module is loaded again with this listing, and once more afterwards.
vi.resetModules();
const { createRemoveTool } = await import("./remove.ts");
afterAll(() => {
  vi.doUnmock("node:fs");
  vi.resetModules();
});

test("a tree is removed where a listing gives names without their kinds; links are never followed", async () => {
  const base = temporaryFolder("names");
  mkdirSync(join(base, "tree/a/b"), { recursive: true });
  mkdirSync(join(base, "kept"));
  for (const name of ["tree/file", "tree/a/b/file", "kept/file"]) writeFileSync(join(base, name), "");
  symlinkSync("../kept", join(base, "tree/link"));
  expect(String(await createRemoveTool({ cwd: base }).execute({ path: "tree" }))).toBe("Removed tree (6 entries)");
  expect(readdirSync(base, { recursive: true }).sort()).toEqual(["kept", "kept/file"]);
});
