import { closeSync, mkdirSync, mkdtempSync, openSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isToolError } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { createPathScope } from "./pathScope.ts";

let base: string;
let root: string;
let outside: string;

beforeEach(() => {
  base = temporaryFolder("scope");
  root = join(base, "root");
  outside = join(base, "root-not");
  mkdirSync(join(root, "sub"), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(root, "file"), "inside");
  writeFileSync(join(outside, "secret"), "outside");
});

async function codeOf(run: Promise<unknown>): Promise<string> {
  try {
    await run;
    return "resolved";
  } catch (error) {
    return isToolError(error) ? error.code : String(error);
  }
}

describe("inside one root", () => {
  test("plain, dotted, absolute and missing paths come back canonical", async () => {
    const scope = createPathScope({ cwd: root, root });
    expect(await scope.resolve("file")).toBe(join(root, "file"));
    expect(await scope.resolve("./sub/../file")).toBe(join(root, "file"));
    expect(await scope.resolve(join(root, "sub/"))).toBe(join(root, "sub"));
    expect(await scope.resolve(".")).toBe(root);
    expect(await scope.resolve("new/deep/../name")).toBe(join(root, "new/name"));
    await expect(scope.resolve("~")).rejects.toThrow("`~` is not expanded");
    expect(await scope.resolve("~a")).toBe(join(root, "~a"));
    expect(await scope.resolve("..a/...")).toBe(join(root, "..a/..."));
  });

  test.each(["../root-not/secret", "../root-not", "..", "/", "/etc/passwd", "sub/../../root-not/new", "../root-no"])(
    "%s is denied by a message that names the root",
    async (path) => {
      const scope = createPathScope({ cwd: root, root });
      await expect(scope.resolve(path)).rejects.toMatchObject({
        code: "permission_denied",
        message: `Permission denied: ${path} is outside ${root}; use a path inside`,
        details: { path, roots: [root] },
      });
      expect(await codeOf(scope.resolveEntry(path))).toBe("permission_denied");
    },
  );

  test("links that lead out are denied: existing, dangling, chained, in the middle, behind a missing name", async () => {
    symlinkSync(outside, join(root, "out"));
    symlinkSync(join(outside, "not-yet"), join(root, "dangling"));
    symlinkSync("dangling", join(root, "chain"));
    symlinkSync("../root-not/not-yet", join(root, "relative"));
    const scope = createPathScope({ cwd: root, root });
    for (const path of ["out", "out/secret", "out/new", "dangling", "chain", "relative", "missing/../out/new"]) {
      expect(await codeOf(scope.resolve(path)), path).toBe("permission_denied");
    }
  });

  test("a link inside the root is followed, also to what does not exist yet", async () => {
    symlinkSync("sub/not-yet", join(root, "dangling"));
    symlinkSync("sub", join(root, "dir"));
    const scope = createPathScope({ cwd: root, root });
    expect(await scope.resolve("dangling")).toBe(join(root, "sub/not-yet"));
    expect(await scope.resolve("dir/new")).toBe(join(root, "sub/new"));
  });

  test("`..` after a link is the parent of its target, as for the system", async () => {
    mkdirSync(join(root, "a/b"), { recursive: true });
    symlinkSync("a/b", join(root, "link"));
    writeFileSync(join(root, "a/here"), "");
    const scope = createPathScope({ cwd: root, root });
    expect(await scope.resolve("link/../here")).toBe(join(root, "a/here"));
    expect(await scope.resolve("link/../missing")).toBe(join(root, "a/missing"));
  });

  test("a link without a trailing slash is the entry itself", async () => {
    symlinkSync(outside, join(root, "out"));
    symlinkSync("sub", join(root, "in"));
    const scope = createPathScope({ cwd: root, root });
    expect(await scope.resolveEntry("out")).toBe(join(root, "out"));
    expect(await codeOf(scope.resolveEntry("out/"))).toBe("permission_denied");
    expect(await codeOf(scope.resolveEntry("out/."))).toBe("permission_denied");
    expect(await scope.resolveEntry("in")).toBe(join(root, "in"));
    expect(await scope.resolveEntry("in/..")).toBe(root);
    expect(await scope.resolveEntry("sub/")).toBe(join(root, "sub"));
    expect(await scope.resolveEntry("sub/x/..")).toBe(join(root, "sub"));
    await expect(scope.resolveEntry("file/")).rejects.toThrow(/\(ENOTDIR\)/);
  });

  test("an entry spelled so that it could mean a link or its target is refused, naming both", async () => {
    symlinkSync("sub", join(root, "in"));
    symlinkSync("file", join(root, "to-file"));
    symlinkSync("not-yet", join(root, "dangling"));
    symlinkSync("loop", join(root, "loop"));
    const scope = createPathScope({ cwd: root, root });
    for (const path of ["in/", "in//", "in/.", "in/./", "in/././/", "./in/", "sub/../in/", `${root}/in/`, "in/x/.."]) {
      await expect(scope.resolveEntry(path), path).rejects.toMatchObject({
        code: "permission_denied",
        message: `Refused: ${path} can mean a link or its target; for the link itself pass in, for its target pass sub`,
      });
    }
    await expect(scope.resolveEntry("to-file/")).rejects.toThrow("pass to-file, for its target pass file");
    await expect(scope.resolveEntry("dangling/")).rejects.toThrow("pass dangling, for its target pass not-yet");
    await expect(scope.resolveEntry("loop/")).rejects.toThrow("pass loop, for its target pass its path");
  });
});

describe("roots", () => {
  test("several roots each admit their own", async () => {
    const scope = createPathScope({ root: [root, outside] });
    expect(await scope.resolve(join(outside, "secret"))).toBe(join(outside, "secret"));
    await expect(scope.resolve(base)).rejects.toThrow(
      `Permission denied: ${base} is outside ${root}, ${outside}; use a path inside`,
    );
  });

  test("a root that is itself a link is known by its target", async () => {
    symlinkSync(root, join(base, "alias"));
    const scope = createPathScope({ root: join(base, "alias") });
    expect(scope.roots).toEqual([root]);
    expect(await scope.resolve(join(base, "alias/file"))).toBe(join(root, "file"));
  });

  test("the filesystem root as root admits all", async () => {
    expect(await createPathScope({ root: "/" }).resolve(root)).toBe(root);
  });
});

describe("a root that cannot be understood is refused, not read as no limit", () => {
  test.each<[string, unknown, string]>([
    ["undefined", undefined, "received undefined; leave it out for no limit"],
    ["an empty list", [], "none of them empty, received an empty array; leave it out for no limit"],
    ["an empty path", "", 'received ""'],
    ["an empty path in a list", ["/tmp", ""], "received an array"],
    ["null", null, "received null"],
    ["a URL", new URL("file:///tmp"), "received an instance of URL; fileURLToPath"],
    ["the text of a URL", "file:///tmp", 'received "file:///tmp"; fileURLToPath'],
    ["a number", 5, "received 5"],
    ["an object", { path: "/tmp" }, "received an object"],
    ["a NUL", "/tmp\0", 'received "/tmp\\u0000"'],
    ["undefined in a list", ["/tmp", undefined], "received an array that holds undefined"],
    ["a list in a list", [["/tmp"]], "received an array that holds an array"],
  ])("%s", (_name, given, words) => {
    const options = { root: given } as { root: string };
    expect(() => createPathScope(options)).toThrow(TypeError);
    expect(() => createPathScope(options)).toThrow("root must be the path of a directory, or an array of such");
    expect(() => createPathScope(options)).toThrow(words);
  });

  test("an inherited root counts", () => {
    expect(() => createPathScope(Object.create({ root: undefined }))).toThrow(TypeError);
    expect(createPathScope(Object.create({ root })).roots).toEqual([root]);
  });

  test("a cwd of another type is refused too; undefined means the process's", () => {
    expect(createPathScope({ cwd: undefined }).cwd).toBe(process.cwd());
    for (const cwd of [null, "", new URL("file:///tmp"), "file:///tmp", 5]) {
      expect(() => createPathScope({ cwd: cwd as string })).toThrow("cwd must be the path of a directory, received ");
    }
  });
});

describe("the working directory", () => {
  test("is the process's without options, the first root where the process is outside, else what is given", () => {
    expect(createPathScope().cwd).toBe(process.cwd());
    expect(createPathScope({ root: [root, outside] }).cwd).toBe(root);
    expect(createPathScope({ root: "/" }).cwd).toBe(process.cwd());
    expect(createPathScope({ root, cwd: join(root, "sub") }).cwd).toBe(join(root, "sub"));
  });
});

describe("bad paths", () => {
  test("empty and NUL are invalid arguments, named", async () => {
    const scope = createPathScope({ cwd: root });
    await expect(scope.resolve("", "source")).rejects.toMatchObject({
      code: "invalid_arguments",
      message: "Invalid arguments: source: must not be empty; pass a file or directory path",
      details: { field: "source", reason: "must not be empty; pass a file or directory path" },
    });
    // What a tool called without a registry may get.
    await expect(scope.resolve(undefined as never)).rejects.toThrow("Invalid arguments: path: must be a string;");
    for (const refused of [scope.resolve("a\0b"), scope.resolveEntry("a\0b")]) {
      await expect(refused).rejects.toMatchObject({
        code: "invalid_arguments",
        message: "Invalid arguments: path: must not contain a NUL character; pass a file or directory path",
        details: { field: "path", reason: "must not contain a NUL character; pass a file or directory path" },
      });
    }
  });

  test("a link loop, a file used as a directory and an endless name carry their code and not the host's path", async () => {
    symlinkSync("loop", join(root, "loop"));
    symlinkSync("pong/missing", join(root, "ping"));
    symlinkSync("ping/missing", join(root, "pong"));
    const scope = createPathScope({ cwd: root, root });
    await expect(scope.resolve("loop")).rejects.toThrow(/loop.*\(ELOOP\)/);
    await expect(scope.resolve("ping")).rejects.toThrow(/\(ELOOP\)/);
    await expect(scope.resolve("file/child")).rejects.toThrow(/\(ENOTDIR\)/);
    await expect(scope.resolve("file/")).rejects.toThrow(/\(ENOTDIR\)/);
    await expect(scope.resolve("x".repeat(300))).rejects.toThrow(/\(ENAMETOOLONG\)/);
    await expect(scope.resolve("loop")).rejects.not.toThrow(base);
  });

  test("behind a missing name, a loop and a file used as a directory are refused as elsewhere", async () => {
    symlinkSync("loop", join(root, "loop"));
    const scope = createPathScope({ cwd: root, root });
    await expect(scope.resolve("missing/../loop")).rejects.toMatchObject({
      message: "Symbolic links form a loop, or are too many: missing/../loop (ELOOP); name the real path",
    });
    for (const path of ["missing/../file/child", "missing/../file/..", "missing/../file/"]) {
      await expect(scope.resolve(path)).rejects.toMatchObject({
        message: `The path, or a part of it, is a file, not a directory: ${path} (ENOTDIR); check the path`,
      });
    }
    expect(await scope.resolve("missing/../file")).toBe(join(root, "file"));
  });

  test("40 links are followed, as Linux does, to a target that does not exist yet; 41 are not", async () => {
    symlinkSync("not-yet", join(root, "link1"));
    for (let n = 2; n <= 41; n += 1) symlinkSync(`link${n - 1}`, join(root, `link${n}`));
    const scope = createPathScope({ cwd: root, root });
    expect(await scope.resolve("missing/../link40")).toBe(join(root, "not-yet"));
    await expect(scope.resolve("missing/../link41")).rejects.toThrow(/\(ELOOP\)/);
  });
});

test("paths are printed relative inside the working directory, absolute outside, quoted where they hold control characters", () => {
  const scope = createPathScope({ cwd: root });
  expect(scope.print(join(root, "sub/x"))).toBe("sub/x");
  expect(scope.print(root)).toBe(".");
  expect(scope.print(`${root}-not`)).toBe(outside);
  expect(scope.print(join(root, "a\nb"))).toBe('"a\\nb"');
  expect(createPathScope({ cwd: "/" }).print("/etc")).toBe("etc");
});

test("without a working directory paths are printed as they are", () => {
  const before = process.cwd();
  const gone = mkdtempSync(join(base, "gone-"));
  const scope = createPathScope();
  process.chdir(gone);
  rmSync(gone, { recursive: true });
  try {
    expect(scope.print(join(gone, "file"))).toBe(join(gone, "file"));
  } finally {
    process.chdir(before);
  }
});

test.runIf(process.platform === "linux")("a descriptor is judged by what it has open, not by its path now", () => {
  const scope = createPathScope({ cwd: root, root });
  const path = join(root, "dir/secret");
  symlinkSync(outside, join(root, "dir"));
  const open = openSync(path, "r");
  rmSync(join(root, "dir"));
  mkdirSync(join(root, "dir"));
  writeFileSync(path, "");
  expect(() => scope.confirm(open, path)).toThrow(`Permission denied: dir/secret is outside ${root}`);
  closeSync(open);
});

test("without roots a descriptor is not checked", () => {
  expect(createPathScope({ cwd: root }).confirm(-1, join(root, "none"))).toBe(undefined);
});

test("a descriptor that a swapped link led outside is refused", async () => {
  const scope = createPathScope({ cwd: root, root });
  mkdirSync(join(root, "dir"));
  writeFileSync(join(root, "dir/secret"), "");
  const path = await scope.resolve("dir/secret");
  const open = openSync(path, "r");
  scope.confirm(open, path);
  closeSync(open);
  renameSync(join(root, "dir"), join(root, "moved"));
  symlinkSync(outside, join(root, "dir"));
  const swapped = openSync(path, "r");
  expect(() => scope.confirm(swapped, path)).toThrow(/outside/);
  closeSync(swapped);
});

test("a path longer than the system allows is refused before anything is looked up", async () => {
  const scope = createPathScope({ cwd: root });
  for (const path of ["q/".repeat(100_000), "sub/../".repeat(20_000), "é".repeat(2049), "\u0000".repeat(10_000_000)]) {
    for (const resolve of [scope.resolve, scope.resolveEntry]) {
      await expect(resolve(path)).rejects.toMatchObject({
        code: "invalid_arguments",
        message: "Invalid arguments: path: is longer than 4096 bytes; pass a file or directory path",
      });
    }
  }
  expect(await scope.resolve(`${"sub/../".repeat(500)}file`)).toBe(join(root, "file"));
});

test("a long path with control characters is cut in an error, and stays a quoted string", async () => {
  const scope = createPathScope({ cwd: root, root });
  await expect(scope.resolve(`${outside}/${"\n/".repeat(600)}`)).rejects.toThrow(
    /^Permission denied: "[^"]{1,2000}…" is outside /,
  );
});
