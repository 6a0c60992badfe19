// The file tools, in a root of their own.
import assert from "node:assert/strict";
import { linkSync, lstatSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { testTool } from "@toolcrib/core/testing";
import { createFsTools } from "@toolcrib/tools-fs";

export function files({ test, folder }) {
  let serial = 0;
  const fresh = (text = "one\ntwo\n") => {
    serial += 1;
    writeFileSync(join(folder, `file-${serial}.txt`), text);
    return `file-${serial}.txt`;
  };
  const validArgs = {
    read_file: () => ({ path: fresh() }),
    write_file: () => ({ path: fresh(), content: "new" }),
    edit_file: () => ({ path: fresh(), edits: [{ old_text: "two", new_text: "three", replace_all: true }] }),
    apply_patch: () => ({ input: `*** Begin Patch\n*** Update File: ${fresh()}\n@@\n-one\n+ONE\n*** End Patch\n` }),
    list_dir: () => ({ path: "." }),
    mkdir: () => ({ path: `a/b${serial}` }),
    remove: () => ({ path: fresh() }),
    move: () => ({ source: fresh(), destination: `moved-${serial}.txt` }),
  };
  const options = { root: folder, deny: [".env"] };
  for (const { name } of createFsTools(options)) {
    const create = () => createFsTools(options).find((tool) => tool.name === name);
    const declare = (words, run) => test(`${name}: ${words}`, run);
    testTool(declare, { create, validArgs: validArgs[name] });
  }

  const tools = new ToolRegistry(createFsTools(options));
  const call = (name, args) => tools.execute(name, args);

  test("read, write, edit, list and move what is there, byte for byte", async () => {
    await call("write_file", { path: "deep/er/a.txt", content: "\ufeffé\r\nb\r\n" });
    assert.equal(readFileSync(join(folder, "deep/er/a.txt"), "utf8"), "\ufeffé\r\nb\r\n");
    const edit = await call("edit_file", { path: "deep/er/a.txt", edits: [{ old_text: "b", new_text: "c" }] });
    assert.match(edit, /\+c/);
    assert.equal(readFileSync(join(folder, "deep/er/a.txt"), "utf8"), "\ufeffé\r\nc\r\n");
    assert.match(await call("read_file", { path: "deep/er/a.txt" }), /é\r?\nc/);
    assert.match(await call("move", { source: "deep/er/a.txt", destination: "deep/b.txt" }), /deep\/b\.txt/);
    assert.equal(await call("list_dir", { path: "deep" }), "b.txt\ner/");
  });

  test("keep to the root and to what is not denied, through links as well", async () => {
    writeFileSync(join(folder, ".env"), "SECRET");
    symlinkSync("/etc", join(folder, "out"));
    symlinkSync(".env", join(folder, "by-link"));
    for (const path of ["/etc/hostname", "out/hostname", "../x", ".env", "by-link"])
      assert.match(await call("read_file", { path }), /^Error executing read_file: Permission denied/, path);
    assert.match(await call("write_file", { path: "out/x", content: "" }), /Permission denied/);
  });

  test("remove a tree and none of what its links lead to, and refuse the root", async () => {
    await call("write_file", { path: "kept/file", content: "kept" });
    await call("write_file", { path: "tree/a/b", content: "" });
    symlinkSync("../kept", join(folder, "tree/link"));
    symlinkSync("nowhere", join(folder, "tree/dangling"));
    writeFileSync(Buffer.from(`${folder}/tree/\xff`, "latin1"), "");
    assert.match(await call("remove", { path: "tree" }), /^Removed/);
    assert.throws(() => lstatSync(join(folder, "tree")), { code: "ENOENT" });
    assert.equal(readFileSync(join(folder, "kept/file"), "utf8"), "kept");
    assert.match(await call("remove", { path: "." }), /^Error executing remove: /);
  });

  test("write through a link and into hard links", async () => {
    const target = fresh("old");
    symlinkSync(target, join(folder, "link.txt"));
    linkSync(join(folder, target), join(folder, "hard.txt"));
    await call("write_file", { path: "link.txt", content: "new" });
    assert.equal(readlinkSync(join(folder, "link.txt")), target);
    assert.equal(readFileSync(join(folder, "hard.txt"), "utf8"), "new");
  });
}
