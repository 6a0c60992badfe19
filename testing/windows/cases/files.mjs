// What the file and search tools do on paths of Windows: results, and every way out of a root.
import assert from "node:assert/strict";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { createFsTools } from "@toolcrib/tools-fs";
import { createSearchTools } from "@toolcrib/tools-search";
import { newFolder, runTests, test } from "../harness.mjs";

/** A root with some files, a secret beside it, and the tools in it. */
function setUp(options = {}) {
  const base = newFolder();
  const root = join(base, "root");
  mkdirSync(join(root, "src", "deep"), { recursive: true });
  writeFileSync(join(base, "secret.txt"), "SECRET");
  writeFileSync(join(root, "a.txt"), "one foo\r\ntwo\r\n");
  writeFileSync(join(root, "src", "b.ts"), "foo();\n");
  writeFileSync(join(root, "src", "deep", "c.ts"), "bar();\n");
  writeFileSync(join(root, ".env"), "KEY=SECRET\n");
  const registry = new ToolRegistry([
    ...createFsTools({ root, cwd: root, ...options }),
    ...createSearchTools({ root, cwd: root, ...options }),
  ]);
  return { base, root, call: (name, args) => registry.execute(name, args) };
}

/** The reason why a thing is not tested here, if the bare system call of Node does not do it either (Wine); undefined if it does. */
function without(what, attempt) {
  try {
    return attempt(newFolder()) ? undefined : `no ${what} here`;
  } catch (error) {
    return `no ${what} here (${error.code})`;
  }
}
const noCaseRename = without("renames of letters alone", (folder) => {
  writeFileSync(join(folder, "a"), "");
  renameSync(join(folder, "a"), join(folder, "A"));
  return readdirSync(folder).includes("A");
});
const noLinks = without("links that can be read", (folder) => {
  writeFileSync(join(folder, "a"), "x");
  symlinkSync(join(folder, "a"), join(folder, "link"), "file");
  return readFileSync(join(folder, "link"), "utf8") === "x";
});
const noLongPaths = without("real path of more than 260 characters", (folder) => {
  const long = join(folder, "long-folder-name\\".repeat(20));
  mkdirSync(long, { recursive: true });
  return realpathSync.native(long).length > 260;
});

test("files are read, written, edited, moved and removed, with / in every reply", async () => {
  const { root, call } = setUp();
  assert.equal(await call("read_file", { path: "a.txt" }), "one foo\r\ntwo\r\n");
  assert.equal(await call("write_file", { path: "new\\deep/x.txt", content: "x" }), "Created new/deep/x.txt (1 bytes)");
  assert.match(await call("edit_file", { path: "a.txt", edits: [{ old_text: "two", new_text: "three" }] }), /\+three/);
  assert.equal(readFileSync(join(root, "a.txt"), "utf8"), "one foo\r\nthree\r\n");
  assert.equal(await call("list_dir", { path: "." }), ".env\na.txt\nnew/\nsrc/");
  assert.equal(
    await call("move", { source: "new/deep/x.txt", destination: "moved\\y.txt" }),
    "Moved new/deep/x.txt to moved/y.txt",
  );
  assert.match(await call("remove", { path: "new" }), /^Removed new/);
  assert.equal(existsSync(join(root, "new")), false);
  assert.match(await call("read_file", { path: "SRC\\B.TS" }), /^foo/);
  assert.match(await call("read_file", { path: "b.ts" }), /No such file/);
});

test(
  "a rename of letters alone is a rename",
  async () => {
    const { root, call } = setUp();
    assert.match(await call("move", { source: "a.txt", destination: "A.TXT" }), /^Moved/);
    assert.ok(readdirSync(root).includes("A.TXT"));
  },
  noCaseRename,
);

test("search finds what is there, by literal, expression and glob", async () => {
  const { call } = setUp();
  assert.equal(await call("search_text", { query: "foo", paths: ["."] }), "a.txt:1:one foo\nsrc/b.ts:1:foo();");
  assert.equal(await call("search_text", { query: "b[a]r", regex: true, paths: ["src"] }), "src/deep/c.ts:1:bar();");
  assert.equal(await call("search_text", { query: "foo", paths: ["src\\b.ts"] }), "src/b.ts:1:foo();");
  assert.equal(await call("search_files", { pattern: "**/*.ts" }), "src/b.ts\nsrc/deep/c.ts");
  assert.equal(await call("search_files", { pattern: "src/{b,x}.ts" }), "src/b.ts");
  assert.match(await call("search_text", { query: "(a+)+$", regex: true, paths: ["."] }), /^No matches/);
});

test("a .gitignore is honoured", async () => {
  const { root, call } = setUp();
  writeFileSync(join(root, ".gitignore"), "deep/\r\n*.txt\r\n");
  assert.equal(await call("search_files", { pattern: "**/*" }), ".env\n.gitignore\nsrc/b.ts");
});

const outside = [
  "..\\secret.txt",
  "../secret.txt",
  "src\\..\\..\\secret.txt",
  "src/../../secret.txt",
  "missing\\..\\..\\secret.txt",
  "\\secret.txt",
  "/secret.txt",
  "C:\\secret.txt",
  "C:/secret.txt",
  "C:secret.txt",
  "Z:secret.txt",
  "C:",
  "\\\\server\\share\\secret.txt",
  "//server/share/x",
  "\\\\?\\C:\\x",
  "//?/C:/x",
  "\\\\.\\C:\\x",
  "\\\\.\\pipe\\x",
  "\\??\\C:\\x",
  "\\\\localhost\\C$\\x",
];
for (const path of outside) {
  test(`no tool leaves the root by ${path}`, async () => {
    const { base, call } = setUp();
    const calls = [
      ["read_file", { path }],
      ["write_file", { path, content: "x" }],
      ["edit_file", { path, edits: [{ old_text: "S", new_text: "x" }] }],
      ["list_dir", { path }],
      ["mkdir", { path }],
      ["remove", { path }],
      ["move", { source: path, destination: "taken.txt" }],
      ["move", { source: "a.txt", destination: path }],
      ["search_text", { query: "SECRET", paths: [path] }],
      ["search_files", { pattern: "*", cwd: path }],
    ];
    for (const [name, args] of calls) {
      const reply = await call(name, args);
      assert.match(reply, /^Error executing \w+: (?:Permission denied|Invalid arguments|Refused)/, `${name}: ${reply}`);
    }
    assert.equal(readFileSync(join(base, "secret.txt"), "utf8"), "SECRET");
  });
}
test("no tool leaves the root by an absolute path beside it", async () => {
  const { base, call } = setUp();
  assert.match(await call("read_file", { path: join(base, "secret.txt") }), /is outside/);
  assert.match(await call("write_file", { path: `${join(base, "root")}2\\x`, content: "x" }), /is outside/);
});

test(
  "a link to a file or folder outside is not followed",
  async () => {
    const { base, root, call } = setUp();
    // Windows asks for a right to make links; Wine makes them.
    symlinkSync(join(base, "secret.txt"), join(root, "link.txt"), "file");
    symlinkSync(base, join(root, "out"), "dir");
    assert.match(await call("read_file", { path: "link.txt" }), /Permission denied/);
    assert.match(await call("write_file", { path: "out\\new.txt", content: "x" }), /Permission denied/);
    assert.equal(
      await call("search_text", { query: "SECRET", paths: ["."], include: "*.txt" }),
      "No matches for SECRET",
    );
    assert.equal(existsSync(join(base, "new.txt")), false);
  },
  noLinks,
);

const traps = [
  "con",
  "CON",
  "nul",
  "NUL.txt",
  "aux.tar.gz",
  "prn",
  "com1",
  "com1.log",
  "lpt9",
  "com\u00b9",
  "conin$",
  "src/nul",
  "c.txt:ads",
  "a.txt::$DATA",
  ".env::$DATA",
  "src::$INDEX_ALLOCATION",
  "trail.",
  "trail ",
  "src./b.ts",
  "src \\b.ts",
  "...",
  "a<b",
  "a|b",
  'a"b',
  "a?b",
  "a*b",
];
for (const path of traps) {
  test(`${JSON.stringify(path)} is refused in words, and nothing is made`, async () => {
    const { root, call } = setUp();
    const before = readdirSync(root);
    for (const [name, args] of [
      ["read_file", { path }],
      ["write_file", { path, content: "x" }],
      ["mkdir", { path }],
      ["remove", { path }],
    ]) {
      assert.match(
        await call(name, args),
        /^Error executing \w+: Invalid arguments: path: (?:names|ends|holds) /,
        name,
      );
    }
    assert.deepEqual(readdirSync(root), before);
  });
}

test("deny holds in any letter case, with both slashes, and in listings", async () => {
  const { call } = setUp({ deny: [".env", "src/deep"] });
  for (const path of [".env", ".ENV", "src\\..\\.Env", "src/deep/c.ts", "SRC\\Deep\\C.ts", ".\\.env"]) {
    assert.match(await call("read_file", { path }), /denied/i, path);
  }
  assert.doesNotMatch(await call("search_text", { query: "SECRET", paths: ["."] }), /KEY/);
  assert.match(await call("search_files", { pattern: "**/*" }), /^a\.txt\nsrc\/b\.ts\n\n\[left out: 2 denied names\]$/);
});

test("a file that somebody has open is replaced once it is closed, else it is told in words; a read-only one is kept", async () => {
  const { root, call } = setUp();
  const descriptor = openSync(join(root, "a.txt"), "r");
  // Windows may replace it even while it is open, by its rename of POSIX semantics (FILE_RENAME_INFORMATION_EX); Wine does not.
  assert.match(
    await call("write_file", { path: "a.txt", content: "open" }),
    /^Wrote a\.txt|^Error executing write_file: Not changed, because another program has it open or it must not be changed: a\.txt \(E/,
  );
  assert.deepEqual(readdirSync(root), [".env", "a.txt", "src"]);
  setTimeout(() => closeSync(descriptor), 100);
  assert.match(await call("write_file", { path: "a.txt", content: "new" }), /^Wrote a\.txt/);
  assert.equal(readFileSync(join(root, "a.txt"), "utf8"), "new");
  chmodSync(join(root, "a.txt"), 0o444);
  assert.match(await call("write_file", { path: "a.txt", content: "newer" }), /^Error executing write_file: /);
  assert.equal(readFileSync(join(root, "a.txt"), "utf8"), "new");
  assert.deepEqual(readdirSync(root), [".env", "a.txt", "src"]);
});

test(
  "paths above 260 characters work",
  async () => {
    const { call } = setUp();
    const long = `${"long-folder-name/".repeat(20)}file.txt`;
    assert.match(await call("write_file", { path: long, content: "deep" }), /^Created/);
    assert.equal(await call("read_file", { path: long.replaceAll("/", "\\") }), "deep");
    assert.match(await call("search_files", { pattern: "**/file.txt" }), /file\.txt$/);
    assert.match(await call("remove", { path: "long-folder-name" }), /^Removed/);
  },
  noLongPaths,
);

test("a drive, the home and the working directory are not removed", async () => {
  const registry = new ToolRegistry(createFsTools({ cwd: newFolder() }));
  for (const path of ["C:\\", "C:/", "C:\\windows", ".", "..", process.env.USERPROFILE]) {
    assert.match(await registry.execute("remove", { path }), /^Error executing remove: Refused/, path);
  }
});

await runTests();
