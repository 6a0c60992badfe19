import { spawn } from "node:child_process";
import { existsSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { createFsTools } from "./fileSystem.ts";
import type { FsToolOptions } from "./options.ts";
import { settingsOf } from "./options.ts";
import { refuseDeniedBelow } from "./remove/deniedBelow.ts";

let root: string;

beforeEach(() => {
  root = temporaryFolder("fs-deny");
  mkdirSync(join(root, "app/deep/keys"), { recursive: true });
  mkdirSync(join(root, "free"));
  writeFileSync(join(root, ".env"), "secret");
  writeFileSync(join(root, "app/deep/keys/a.pem"), "secret");
  writeFileSync(join(root, "app/main"), "text");
  writeFileSync(join(root, "free/note"), "text");
  symlinkSync("../.env", join(root, "free/alias"));
});

function registryWith(options: FsToolOptions): ToolRegistry {
  return new ToolRegistry(createFsTools({ root, cwd: root, ...options }));
}

const denied = /^Error executing \w+: Permission denied: .+ is on the list of denied paths; use another path$/;

test("no tool comes by a denied path", async () => {
  const registry = registryWith({ deny: [".env", "*.pem"] });
  for (const path of [".env", "free/../.ENV", "free/alias", join(root, ".env"), "app/deep/keys/a.pem", "new.pem"]) {
    expect(await registry.execute("read_file", { path })).toMatch(denied);
    expect(await registry.execute("write_file", { path, content: "x" })).toMatch(denied);
    const edits = [{ old_text: "secret", new_text: "x" }];
    expect(await registry.execute("edit_file", { path, edits })).toMatch(denied);
    expect(await registry.execute("mkdir", { path })).toMatch(denied);
    expect(await registry.execute("list_dir", { path })).toMatch(denied);
    if (path === "free/alias") continue;
    expect(await registry.execute("mkdir", { path: `${path}/x` })).toMatch(denied);
    expect(await registry.execute("move", { source: "app/main", destination: `${path}/x` })).toMatch(denied);
    expect(await registry.execute("remove", { path })).toMatch(denied);
    expect(await registry.execute("move", { source: path, destination: "out" })).toMatch(denied);
    expect(await registry.execute("move", { source: "app/main", destination: path })).toMatch(denied);
  }
  expect(existsSync(join(root, ".env"))).toBe(true);
});

test("a listing leaves denied names out, with links to them, and says so on its last line", async () => {
  const registry = registryWith({ deny: [".env", "keys/"] });
  expect(await registry.execute("list_dir", { path: "." })).toBe("app/\nfree/\n\n[left out: 1 denied name]");
  expect(await registry.execute("list_dir", { path: "free" })).toBe("note\n\n[left out: 1 denied name]");
  expect(await registry.execute("list_dir", { path: "app/deep" })).toBe("(nothing else)\n\n[left out: 1 denied name]");
  writeFileSync(join(root, "z"), "");
  expect(await registry.execute("list_dir", { path: ".", limit: 2 })).toBe(
    "app/\nfree/\n\n[truncated: shown 2 of 3 entries; pass offset=3 to continue]\n[left out: 1 denied name]",
  );
  expect(await registryWith({}).execute("list_dir", { path: "free" })).toBe("alias -> ../.env\nnote");
});

describe("a directory that holds a denied path", () => {
  const holds =
    "Permission denied: app contains paths that are on the list of denied paths; name its entries one by one";

  test.each(["*.pem", "keys", "app/deep/keys/a.pem", "app/**/A.PEM"])(
    "is not removed or moved: %s",
    async (pattern) => {
      const registry = registryWith({ deny: [pattern] });
      expect(await registry.execute("remove", { path: "app" })).toBe(`Error executing remove: ${holds}`);
      expect(await registry.execute("move", { source: "app", destination: "b" })).toBe(
        `Error executing move: ${holds}`,
      );
      expect(existsSync(join(root, "app/main"))).toBe(true);
    },
  );

  test("is told from one that could, but does not", async () => {
    const registry = registryWith({ deny: ["*.pem", "app/deep/keys"] });
    expect(await registry.execute("move", { source: "free", destination: "moved" })).toBe("Moved free to moved");
    expect(await registry.execute("remove", { path: "moved" })).toBe("Removed moved (3 entries)");
    expect(await registry.execute("remove", { path: "app/main" })).toBe("Removed app/main");
  });

  test("is not made by a move either", async () => {
    const registry = registryWith({ deny: ["config/prod"] });
    mkdirSync(join(root, "staged/below"), { recursive: true });
    writeFileSync(join(root, "staged/prod"), "x");
    expect(await registry.execute("move", { source: "staged", destination: "config" })).toContain(
      "Permission denied: staged contains paths that are on the list",
    );
    expect(await registry.execute("move", { source: "staged", destination: "other" })).toBe("Moved staged to other");
  });

  test("is seen at any depth", async () => {
    const deep = join(root, "free", ...Array.from({ length: 300 }, () => "d"));
    mkdirSync(deep, { recursive: true });
    const { scope } = settingsOf("test", { root, deny: ["*.pem"] });
    await refuseDeniedBelow(join(root, "free"), scope, undefined);
    writeFileSync(join(deep, "x.pem"), "");
    await expect(refuseDeniedBelow(join(root, "free"), scope, undefined)).rejects.toThrow("free contains paths");
  });
});

test("a long list of names is matched in turns: other work runs in between", async () => {
  for (let file = 0; file < 400; file += 1) writeFileSync(join(root, "free", `file-${file}`), "");
  const registry = registryWith({ deny: ["*.pem"] });
  let turns = 0;
  let next = setImmediate(function turn() {
    turns += 1;
    next = setImmediate(turn);
  });
  // A clock that makes every name look as slow as a machine could be.
  let now = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 20));
  try {
    expect(await registry.execute("list_dir", { path: "free" })).toContain("file-399");
  } finally {
    clock.mockRestore();
    clearImmediate(next);
  }
  expect(turns).toBeGreaterThanOrEqual(400);
});

test("another name of a denied file by a hard link is not seen: names decide", async () => {
  linkSync(join(root, ".env"), join(root, "copy"));
  expect(await registryWith({ deny: [".env"] }).execute("read_file", { path: "copy" })).toBe("secret");
});

test("a denied name that is a link: its target is read by its own name, unless the pattern has a place", async () => {
  symlinkSync("free/note", join(root, "local.pem"));
  const read = (deny: string, path: string): Promise<string> =>
    registryWith({ deny: [deny] }).execute("read_file", { path });
  expect(await read("*.pem", "local.pem")).toContain("is on the list of denied paths");
  expect(await read("local.pem", "free/note")).not.toContain("is on the list of denied paths");
  expect(await read("./local.pem", "free/note")).toContain("is on the list of denied paths");
});

/** Swaps `way` between a plain directory and a link to `app`, as fast as it can. */
const swapper = `
  const fs = require("node:fs");
  process.chdir(process.argv[1]);
  for (;;) {
    fs.renameSync("way", "kept"); fs.symlinkSync("app", "way"); fs.unlinkSync("way"); fs.renameSync("kept", "way");
  }
`;

test.skipIf(process.platform !== "linux")(
  "a link swapped in while tools run never leads to a denied path",
  async () => {
    mkdirSync(join(root, "way/deep/keys"), { recursive: true });
    writeFileSync(join(root, "way/deep/keys/a.pem"), "plain");
    const registry = registryWith({ deny: ["app"] });
    const racer = spawn(process.execPath, ["-e", swapper, root], { stdio: "ignore" });
    try {
      let plain = 0;
      for (let i = 0; i < 60; i += 1) {
        const text = await registry.execute("read_file", { path: "way/deep/keys/a.pem" });
        expect(text).not.toContain("secret");
        if (text === "plain") plain += 1;
        await registry.execute("write_file", { path: "way/deep/keys/planted", content: "x" });
        await registry.execute("mkdir", { path: "way/deep/made/x" });
        await registry.execute("remove", { path: "way/deep/made" });
      }
      expect(plain).toBeGreaterThan(0);
    } finally {
      racer.kill("SIGKILL");
    }
    expect(existsSync(join(root, "app/deep/keys/planted"))).toBe(false);
    expect(existsSync(join(root, "app/deep/made"))).toBe(false);
  },
);

describe("directories for reading alone", () => {
  let library: string;
  beforeEach(() => {
    library = temporaryFolder("fs-library");
    mkdirSync(join(library, "sub"));
    writeFileSync(join(library, "book"), "text");
  });

  test("are read and listed, and nothing in them is changed", async () => {
    const registry = registryWith({ readable: library });
    const path = join(library, "book");
    expect(await registry.execute("read_file", { path })).toBe("text");
    expect(await registry.execute("list_dir", { path: library })).toBe("book\nsub/");
    const calls: [string, Record<string, unknown>][] = [
      ["write_file", { path, content: "x" }],
      ["edit_file", { path, edits: [{ old_text: "text", new_text: "x" }] }],
      ["mkdir", { path: join(library, "new") }],
      ["remove", { path }],
      ["move", { source: path, destination: "here" }],
      ["move", { source: "app/main", destination: join(library, "new") }],
    ];
    for (const [name, args] of calls) expect(await registry.execute(name, args)).toContain("Permission denied");
    expect(await registry.execute("list_dir", { path: library })).toBe("book\nsub/");
    expect(await registry.execute("read_file", { path })).toBe("text");
  });

  test("stay where they lie in the root", async () => {
    const registry = registryWith({ readable: join(root, "app/deep") });
    expect(await registry.execute("remove", { path: "app" })).toBe(
      "Error executing remove: Refused: app is above a read-only directory; name something inside it",
    );
    expect(await registry.execute("write_file", { path: "app/deep/x", content: "" })).toContain("read-only");
    expect(await registry.execute("write_file", { path: "app/x", content: "" })).toBe("Created app/x (0 bytes)");
  });
});
