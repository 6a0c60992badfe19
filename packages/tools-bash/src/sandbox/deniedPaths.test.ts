import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileDenyRules, isInside } from "@toolcrib/kit/files";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answerOf, writeIn } from "../../fixtures/commands.ts";
import type { RunBashOptions } from "../bashOptions.ts";
import { createRunBashTool } from "../runBash.ts";
import { toBytePath } from "./bytePath.ts";
import { findDenied } from "./deniedPaths.ts";
import { openInPlace } from "./pinnedDirectory.ts";

const isRoot = process.getuid?.() === 0;
let inside: string;

beforeAll(() => {
  inside = realpathSync(mkdtempSync(join(tmpdir(), "toolcrib-denied-")));
});
// Not by Node, which cannot remove paths that are too long for the system.
afterAll(() => void execFileSync("rm", ["-rf", inside]));

const put = (path: string): void => writeIn("/", path, "secret");

describe("the walk", () => {
  const found = async (patterns: string[], root: string, limit?: number): Promise<string[]> => {
    const { files, directories } = await findDenied({ patterns, roots: [root] }, [root], limit);
    return [...files, ...directories].map((path) => path.slice(root.length + 1)).sort();
  };

  test("ends with an error where there are more files than it may look at", async () => {
    const root = join(inside, "walk");
    for (const name of ["a/1", "a/2", "b/c/3"]) put(join(root, name));
    expect(await found([".env"], root, 6)).toEqual([]);
    await expect(found([".env"], root, 5)).rejects.toThrow("there are more than 5 files to look at");
    // What cannot hold a match is not looked at.
    expect(await found(["./b/c/*"], root, 5)).toEqual(["b/c/3"]);
  });

  test("finds what the file tools deny, whatever the patterns and the tree", async () => {
    const name = fc.constantFrom("a", "B", ".env", "x.pem", "vault", "é", "[ab]");
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
    const part = fc.constantFrom("a", "b", ".ENV", "*.pem", "v*", "**", "?", "[ab]", "vault");
    const pattern = fc
      .tuple(
        fc.constantFrom("", "./", "**/", "/", "~/"),
        fc.array(part, { minLength: 1, maxLength: 3 }),
        fc.constantFrom("", "/"),
      )
      .map(([start, parts, end]) => start + parts.join("/") + end);
    let serial = 0;
    const agrees = async (files: readonly string[], patterns: readonly string[]): Promise<void> => {
      serial += 1;
      const root = join(inside, `random-${serial}`);
      mkdirSync(root);
      for (const file of files) {
        try {
          put(join(root, file));
        } catch {
          // A file is in the place of one of its folders.
        }
      }
      // From the top, as the random names below / and ~ are those of the tree.
      const placed = patterns.map((one) => one.replace(/^[~/]\/?/, `${root}/`));
      const rules = compileDenyRules({ patterns: placed, roots: [root] });
      const { files: closed, directories } = await findDenied(rules.rules, [root]);
      for (const entry of readdirSync(root, { recursive: true, encoding: "utf8" })) {
        const full = join(root, entry);
        const masked = closed.includes(toBytePath(full)) || directories.some((one) => isInside(one, toBytePath(full)));
        expect([entry, placed, masked]).toEqual([entry, placed, rules.match(full) !== undefined]);
      }
    };
    const some = fc.array(path, { minLength: 1, maxLength: 8 });
    await fc.assert(fc.asyncProperty(some, fc.array(pattern, { minLength: 1, maxLength: 4 }), agrees), {
      numRuns: 60,
    });
  });

  test("goes thousands of levels deep, and denies what is too deep to be masked by an error", async () => {
    const root = join(inside, "deep");
    put(join(root, `${"d/".repeat(1200)}.env`));
    expect(await found([".env"], root)).toEqual([`${"d/".repeat(1200)}.env`]);
    let folder = join(root, "start");
    mkdirSync(folder);
    for (let level = 0; level < 30; level += 1) {
      const holder = join(root, String(level));
      mkdirSync(holder);
      renameSync(folder, join(holder, "e".repeat(200)));
      folder = holder;
    }
    await expect(found([".env"], root)).rejects.toThrow("cannot be masked");
  });

  test.skipIf(isRoot)("denies a folder that cannot be listed as a whole", async () => {
    const root = join(inside, "locked");
    put(join(root, "a/.env"));
    chmodSync(join(root, "a"), 0o100);
    try {
      expect(await found([".env"], root)).toEqual(["a"]);
    } finally {
      chmodSync(join(root, "a"), 0o700);
    }
  });

  test("looks elsewhere from the folder before the first wildcard of a pattern", async () => {
    const [root, elsewhere] = [join(inside, "home"), join(inside, "stars")];
    put(join(root, "x"));
    for (const path of ["one/b/key", "b/key"]) put(join(elsewhere, path));
    const { files } = await findDenied({ patterns: [`${elsewhere}/*/b/key`], roots: [root] }, [root]);
    expect(files).toEqual([join(elsewhere, "one/b/key")]);
  });

  test("finds what a link leads to, elsewhere as well, and names that are not UTF-8", async () => {
    const root = join(inside, "links");
    const elsewhere = join(inside, "elsewhere");
    put(join(elsewhere, "env"));
    put(join(elsewhere, "folder/token"));
    put(join(root, "sub/x"));
    for (const [target, name] of [
      [join(elsewhere, "env"), ".env"],
      [join(elsewhere, "folder"), "vault"],
      ["nowhere", "other.pem"],
      ["loop.pem", "loop.pem"],
    ] as const)
      symlinkSync(target, join(root, "sub", name));
    writeFileSync(Buffer.from(`${root}/\xff.pem`, "latin1"), "secret");
    const { files, directories } = await findDenied({ patterns: [".env", "*.pem", "vault/"], roots: [root] }, [root]);
    expect(files.toSorted()).toEqual([toBytePath(join(elsewhere, "env")), `${root}/\xff.pem`]);
    expect(directories).toEqual([join(elsewhere, "folder")]);
    // Patterns with a place are looked for there, and no others.
    const placed = { patterns: [`${elsewhere}/f*/tok?n`, "env"], roots: [root] };
    expect((await findDenied(placed, [root])).files).toEqual([join(elsewhere, "folder/token")]);
  });

  test("notices a folder that was replaced by a link", async () => {
    mkdirSync(join(inside, "place/sub"), { recursive: true });
    writeFileSync(join(inside, "place/file"), "");
    symlinkSync("place", join(inside, "to-place"));
    for (const path of ["to-place", "to-place/sub", "place/file", "place/missing"]) {
      expect(() => openInPlace(toBytePath(join(inside, path)))).toThrow(/was moved meanwhile|cannot be opened/);
    }
  });
});

describe("deny without a sandbox", () => {
  test("has no effect on commands, but none runs in a denied folder, by whatever path, and guards are told so", async () => {
    const root = join(inside, "folders");
    put(join(root, "vault/sub/.env"));
    symlinkSync("vault", join(root, "link"));
    symlinkSync(join(inside, "elsewhere"), join(root, "named-vault"));
    const tool = createRunBashTool({ root, deny: ["vault/", "named-vault", "missing"] });
    const places = ["vault", "VAULT/", "vault/sub", join(root, "vault"), "link", "link/sub", "named-vault", "missing"];
    for (const cwd of places) {
      const denied = { code: "permission_denied", message: expect.stringContaining("denied paths") as string };
      await expect(tool.execute({ command: "true", cwd })).rejects.toMatchObject(denied);
      await expect(tool.effects?.({ command: "true", cwd })).rejects.toMatchObject(denied);
    }
    expect((await answerOf(tool, "cat vault/sub/.env", { cwd: "." })).stdout).toBe("secret");
  });

  test("throws for a malformed pattern and for what is no list of patterns", () => {
    for (const deny of [[""], ["!a"], ["a\0"], ["[a"], ".env", undefined, null, [1]])
      expect(() => createRunBashTool({ deny } as RunBashOptions)).toThrow(TypeError);
  });
});
