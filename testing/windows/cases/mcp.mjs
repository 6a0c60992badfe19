// Our server and our client of MCP: over stdio, by a path, a name on PATH and a script for cmd.exe, and over HTTP.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ToolRegistry } from "@toolcrib/core";
import { mountMcp, serveMcp } from "@toolcrib/mcp";
import { createFsTools } from "@toolcrib/tools-fs";
import { newFolder, plainBase, runTests, test } from "../harness.mjs";

const bin = fileURLToPath(new URL("../../node_modules/@toolcrib/cli/dist/bin.js", import.meta.url));
const wordsServer = fileURLToPath(new URL("../programs/wordsServer.mjs", import.meta.url));

/** The tools of a server, as this program's own. */
async function withServer(entry, work) {
  const mount = await mountMcp({ mcpServers: { files: entry } });
  try {
    assert.deepEqual(mount.problems, []);
    await work(new ToolRegistry(mount.tools));
  } finally {
    await mount.close();
  }
}

/** A root with a file, and a folder on PATH for programs. */
function setUp() {
  const root = newFolder();
  // The cmd.exe of Wine does not read `^ ` in the path of a script, as that of Windows does: no space in it.
  const programs = newFolder(plainBase());
  writeFileSync(join(root, "a.txt"), "hello\n");
  return { root, programs };
}

async function withPath(folders, work) {
  const before = process.env.PATH;
  process.env.PATH = [...folders, before].join(delimiter);
  try {
    await work();
  } finally {
    process.env.PATH = before;
  }
}

test("our server is mounted over stdio by the path of its program", async () => {
  const { root } = setUp();
  await withServer({ command: process.execPath, args: [bin, "mcp", "serve"], cwd: root }, async (registry) => {
    assert.match(await registry.execute("mcp__files__read_file", { path: "a.txt" }), /hello/);
  });
});

test("a name is looked up on PATH, and never in the working folder", async () => {
  const { root, programs } = setUp();
  const before = process.cwd();
  writeFileSync(join(root, "wordy.cmd"), "@echo planted > planted.txt\r\n");
  process.chdir(root);
  try {
    await withPath(["", ".", root], async () => {
      const mount = await mountMcp({ mcpServers: { files: { command: "wordy", cwd: root } } });
      await mount.close();
      assert.match(String(mount.problems[0]), /the program wordy is not on PATH/);
      assert.equal(existsSync(join(root, "planted.txt")), false);
    });
  } finally {
    process.chdir(before);
  }
  writeFileSync(join(programs, "wordy.cmd"), `@"${process.execPath}" "${wordsServer}" %*\r\n`);
  await withPath([programs], () =>
    withServer({ command: "wordy", cwd: root }, async (registry) => {
      assert.equal(await registry.execute("mcp__files__words", {}), "[]");
    }),
  );
});

test("a script for cmd.exe gets its words as they are written, and runs none of them", async () => {
  const { root, programs } = setUp();
  writeFileSync(join(programs, "wordy.cmd"), `@"${process.execPath}" "${wordsServer}" %*\r\n`);
  const planted = join(root, "planted.txt");
  const words = ["two words", `x&echo>${planted}`, "a|b", "c>d", "e^f", "(g)", "é日"];
  await withPath([programs], () =>
    withServer({ command: "wordy", args: words, cwd: root }, async (registry) => {
      assert.deepEqual(JSON.parse(await registry.execute("mcp__files__words", {})), words);
      assert.equal(existsSync(planted), false);
    }),
  );
});

test("a program is started with words that need no shell", async () => {
  const { root } = setUp();
  const words = ["two words", 'a"b', "c\\", "%PATH%", "x&y", "é日", ""];
  await withServer({ command: process.execPath, args: [wordsServer, ...words], cwd: root }, async (registry) => {
    assert.deepEqual(JSON.parse(await registry.execute("mcp__files__words", {})), words);
  });
});

test("a server that is not there is a problem in words", async () => {
  const mount = await mountMcp({ mcpServers: { files: { command: "no-such-program-here" } } });
  await mount.close();
  assert.match(String(mount.problems[0]), /the program no-such-program-here is not on PATH/);
});

test("our server is mounted over HTTP", async () => {
  const { root } = setUp();
  const serving = await serveMcp(new ToolRegistry(createFsTools({ root, cwd: root })), { http: { auth: false } });
  try {
    await withServer({ url: String(serving.url) }, async (registry) => {
      assert.match(await registry.execute("mcp__files__read_file", { path: "a.txt" }), /hello/);
    });
  } finally {
    await serving.close();
  }
});

await runTests();
