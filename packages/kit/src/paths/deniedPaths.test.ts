import { closeSync, mkdirSync, openSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { writeAtomically } from "../files/atomicWrite.ts";
import { openInside } from "../files/directories.ts";
import { openRegularFile } from "../files/openRegular.ts";
import type { PathScopeOptions } from "./pathLimits.ts";
import { createPathScope } from "./pathScope.ts";

let base: string;
let root: string;

beforeEach(() => {
  base = temporaryFolder("denied");
  root = join(base, "root");
  mkdirSync(join(root, "config/keys"), { recursive: true });
  mkdirSync(join(base, "library"));
  writeFileSync(join(root, ".env"), "secret");
  writeFileSync(join(root, "config/keys/a.pem"), "secret");
  writeFileSync(join(root, "open"), "text");
  writeFileSync(join(base, "library/book"), "text");
  symlinkSync(".env", join(root, "alias"));
  symlinkSync("config", join(root, "link"));
});

const refusal = { code: "permission_denied", message: expect.stringContaining("is on the list of denied paths") };

describe("denied paths", () => {
  test.each([
    [".env", ".env"],
    [".env", "./config/../.env"],
    [".env", "alias"],
    [".env", ".ENV"],
    [".env", "new/.Env/deep"],
    [".ENV", ".env"],
    ["alias", "alias"],
    ["*.pem", "config/keys/a.pem"],
    ["*.pem", "link/keys/new.pem"],
    ["config/keys", "config/keys/a.pem"],
    ["config/keys", "link/keys"],
    ["link/keys", "config/keys/a.pem"],
    ["keys/", "config/keys"],
    ["absent/", "absent"],
    ["absent/", "absent/x"],
  ])("with %j nothing is resolved by %j", async (pattern, path) => {
    const scope = createPathScope({ cwd: root, root, deny: [pattern] });
    for (const use of ["read", "write"] as const) {
      await expect(scope.resolve(path, "path", use)).rejects.toMatchObject(refusal);
    }
    await expect(scope.resolve(path)).rejects.toMatchObject({ details: { path, pattern, roots: [root] } });
    if (path !== "alias" || pattern === "alias") await expect(scope.resolveEntry(path)).rejects.toMatchObject(refusal);
    await expect(createPathScope({ cwd: root, deny: [pattern] }).resolve(path)).rejects.toMatchObject(refusal);
  });

  test("the error names only the path of the caller", async () => {
    const scope = createPathScope({ cwd: root, root, deny: [join(root, "config")] });
    await expect(scope.resolve("link/x")).rejects.toThrow(
      "Permission denied: link/x is on the list of denied paths; use another path",
    );
  });

  test("other paths are not denied, and a pattern for directories denies no file", async () => {
    const scope = createPathScope({ cwd: root, root, deny: [".env", "open/", "config/keys"] });
    expect(await scope.resolve("open")).toBe(join(root, "open"));
    expect(await scope.resolve("config")).toBe(join(root, "config"));
    expect(await scope.resolve(".env.example")).toBe(join(root, ".env.example"));
  });

  test("denied paths stay denied when the process changes its directory", async () => {
    const own = process.cwd();
    try {
      process.chdir(root);
      const scope = createPathScope({ deny: ["config/keys"] });
      process.chdir(base);
      await expect(scope.resolve("root/config/keys/a.pem")).rejects.toMatchObject(refusal);
    } finally {
      process.chdir(own);
    }
  });

  test.skipIf(process.platform !== "linux").each([
    ["config", "a.pem"],
    ["config/keys/prod", "prod"],
  ])("with %j a directory swapped in after the check is refused once open: %s", async (pattern, name) => {
    const scope = createPathScope({ cwd: root, root, deny: [pattern] });
    mkdirSync(join(root, "outer/keys"), { recursive: true });
    writeFileSync(join(root, "outer/keys", name), "");
    writeFileSync(join(root, "config/keys/prod"), "secret");
    const path = await scope.resolve(`outer/keys/${name}`);
    renameSync(join(root, "outer"), join(root, "gone"));
    symlinkSync("config", join(root, "outer"));
    expect(() => openRegularFile(path, scope)).toThrow("denied paths");
    await expect(writeAtomically(path, "x", { scope })).rejects.toThrow("denied paths");
    expect(readFileSync(join(root, "config/keys/prod"), "utf8")).toBe("secret");
    const descriptor = openSync(join(root, "outer/keys"), "r");
    const confirm = () => scope.confirm(descriptor, join(root, "outer/keys"), { name });
    expect(confirm).toThrow(`outer/keys/${name} is on the list of denied paths`);
    closeSync(descriptor);
  });
});

describe("readable directories", () => {
  const scopeWith = (options: Partial<PathScopeOptions> = {}) =>
    createPathScope({ cwd: root, root, readable: join(base, "library"), ...options });
  const book = (): string => join(base, "library/book");

  test("are read, not written", async () => {
    const scope = scopeWith();
    expect(await scope.resolve(book(), "path", "read")).toBe(book());
    const refused = { code: "permission_denied", message: expect.stringContaining("use a path inside") };
    await expect(scope.resolve(book(), "path", "write")).rejects.toMatchObject(refused);
    await expect(scope.resolve(book())).rejects.toMatchObject(refused);
    await expect(scope.resolveEntry(book())).rejects.toMatchObject(refused);
    expect(() => openRegularFile(book(), scope).close()).not.toThrow();
    expect(() => openRegularFile(book(), scope, true)).toThrow("Permission denied");
    expect(() => openInside(join(base, "library"), scope)).toThrow("Permission denied");
    expect(() => openInside(join(base, "library"), scope, "read").close()).not.toThrow();
  });

  test("do not open their neighbours", async () => {
    const outside = `is outside ${root}, ${join(base, "library")}; use a path inside`;
    await expect(scopeWith().resolve(base, "path", "read")).rejects.toThrow(outside);
    await expect(scopeWith().resolve("/etc/passwd", "path", "read")).rejects.toThrow(outside);
  });

  test("are named in an error where they are few; of many, the one that matters", async () => {
    const many = Array.from({ length: 500 }, (_, index) => join(root, `many${index}`));
    const scope = scopeWith({ readable: many });
    await expect(scope.resolve("many7/x")).rejects.toThrow(
      `Permission denied: many7/x is in ${join(root, "many7")}, which is read-only; write elsewhere`,
    );
    const outside = `is outside ${[root, ...many.slice(0, 4)].join(", ")} and 496 more; use a path inside`;
    await expect(scope.resolve("/etc/passwd", "path", "read")).rejects.toThrow(outside);
  });

  test("and roots may be nested: the nearest decides", async () => {
    const inner = scopeWith({ readable: join(root, "config") });
    await expect(inner.resolve("config/x")).rejects.toThrow(
      `config/x is in ${join(root, "config")}, which is read-only; write elsewhere`,
    );
    expect(await inner.resolve("x")).toBe(join(root, "x"));
    const outer = scopeWith({ readable: base });
    expect(await outer.resolve("x")).toBe(join(root, "x"));
    await expect(outer.resolve(book())).rejects.toThrow("use a path inside");
    await expect(scopeWith({ readable: root }).resolve("x")).rejects.toThrow("read-only");
  });

  test("are not written without a root either", async () => {
    const scope = createPathScope({ cwd: root, readable: [join(base, "library")] });
    await expect(scope.resolve(book())).rejects.toThrow("read-only");
    expect(await scope.resolve("/tmp/x")).toBe("/tmp/x");
  });
});

test.each([
  [{ deny: undefined }, "deny must be an array of path patterns, received undefined"],
  [{ deny: ".env" }, "deny must be an array of path patterns, received a string"],
  [{ deny: [".env", 5] }, "received an array that holds a number"],
  [{ deny: ["a["] }, 'Invalid path pattern "a[": a [ is never closed'],
  [
    { readable: undefined },
    "readable must be the path of a directory, or an array of such, none of them empty, received undefined; leave it out for none",
  ],
  [{ readable: [""] }, "such, none of them empty, received an array"],
  [{ readable: new URL("file:///tmp") }, "received an instance of URL; fileURLToPath"],
])("%j is refused", (options, message) => {
  const create = () => createPathScope(options as PathScopeOptions);
  expect(create).toThrow(TypeError);
  expect(create).toThrow(message);
});
