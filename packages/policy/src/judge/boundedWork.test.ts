import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sharedFolder } from "@toolcrib/testing/temporaryFolder";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { judgeLine } from "../../../../testing/shell/judgeLine.ts";

const looked = vi.hoisted(() => ({ at: 0 }));

/** Counts the folders that are opened and the names that are read from them. */
vi.mock("node:fs", async (importOriginal) => {
  const real = await importOriginal<typeof import("node:fs")>();
  const readdirSync = ((...args: Parameters<typeof real.readdirSync>) => {
    looked.at += 1;
    const names = real.readdirSync(...args);
    looked.at += names.length;
    return names;
  }) as typeof real.readdirSync;
  return { ...real, readdirSync };
});

// Test files share a process: the modules are loaded again with this listing, and once more afterwards.
vi.resetModules();
const { createPolicy } = await import("../policy.ts");
const { Looks } = await import("./looks.ts");
afterAll(() => {
  vi.doUnmock("node:fs");
  vi.resetModules();
});

const base = sharedFolder("policy-work");
let root: string;

beforeAll(() => {
  root = join(base, "root");
  for (const folder of ["a", "b"]) {
    mkdirSync(join(root, folder), { recursive: true });
    for (let at = 0; at < 20; at += 1) writeFileSync(join(root, folder, `${at}.ts`), "");
  }
});

beforeEach(() => {
  looked.at = 0;
});

describe("a line that names a folder hundreds of times is decided after one look", () => {
  /** Names of the folder itself: the same one is only judged once. */
  const spellings = Array.from({ length: 600 }, (_, at) => `${at}/..`);
  const denied = { deny: ["effect:read(.env)"] };
  test.each([
    { line: `rm -rf ${spellings.join(" ")}`, options: { allow: ["run_bash(rm *)"] }, decision: "allow" },
    { line: `rm -rf ${"missing ".repeat(1200)}`, options: { allow: ["run_bash(rm *)"] }, decision: "allow" },
    { line: spellings.map((one) => `rm -rf ${one}`).join(";"), options: { mode: "full" as const }, decision: "allow" },
    { line: `grep -r x ${spellings.join(" ")}`, options: denied, decision: "allow" },
    { line: "git diff;".repeat(1100), options: denied, decision: "allow" },
  ])("%#", async ({ line, options, decision }) => {
    const policy = createPolicy({ roots: root, cwd: root, home: base, ...options });
    looked.at = 0;
    expect((await judgeLine(policy, line, root)).decision).toBe(decision);
    expect(looked.at).toBeGreaterThan(0);
    expect(looked.at).toBeLessThanOrEqual(45);
  });

  test("and one that names a few folders looks through all of them", async () => {
    const policy = createPolicy({ roots: root, cwd: root, home: base, allow: ["run_bash(rm *)"] });
    looked.at = 0;
    expect((await judgeLine(policy, "rm -rf a b", root)).decision).toBe("allow");
    expect(looked.at).toBe(42);
  });
});

test("a look ends where the budget of its call does, also before it opens anything", () => {
  const looks = new Looks(30);
  expect(looks.below(join(root, "a"))).toMatchObject({ complete: true });
  expect(looks.below(join(root, "b"))).toMatchObject({ complete: false });
  looked.at = 0;
  expect(looks.below(join(root, "missing"))).toEqual({ entries: [], complete: false });
  expect(looked.at).toBe(0);
});
