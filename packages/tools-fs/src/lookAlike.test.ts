import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { createFsTools } from "./fileSystem.ts";

const there = "Screenshot 1.00\u202fPM.txt";
const typed = "Screenshot 1.00 PM.txt";
const shown = '"Screenshot 1.00\\u202fPM.txt"';
const notice = `[the name given is not there; ${shown} looks the same, so it was used]`;

let root: string;
beforeEach(() => {
  root = temporaryFolder("fs-alike");
  writeFileSync(join(root, there), "text\n");
});
const call = (name: string, args: Record<string, unknown>): Promise<string> =>
  new ToolRegistry(createFsTools({ root, cwd: root, readable: [] })).execute(name, args);

describe("names that people cannot type", () => {
  test("what exists is read, edited and patched by its plain form, and named", async () => {
    expect(await call("read_file", { path: typed })).toBe(`text\n\n${notice}`);
    expect(await call("read_file", { path: typed, limit: 1 })).toContain(notice);
    expect(await call("edit_file", { path: typed, edits: [{ old_text: "text", new_text: "new" }] })).toMatch(
      /^\[the name given[\s\S]*\+new/,
    );
    const input = `*** Begin Patch\n*** Update File: ${typed}\n-new\n+newer\n*** End Patch`;
    expect(await call("apply_patch", { input })).toContain(notice);
    expect(readFileSync(join(root, there), "utf8")).toBe("newer\n");
    expect(readdirSync(root)).toEqual([there]);
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ["remove", { path: typed }, /^Nothing to remove: Screenshot .*; there is "Screenshot 1\.00\\u202fPM\.txt", whose/],
    ["move", { source: typed, destination: "new" }, /there is "Screenshot 1\.00\\u202fPM\.txt"/],
    ["apply_patch", { input: `*** Begin Patch\n*** Delete File: ${typed}\n*** End Patch` }, /there is "Screenshot/],
    [
      "apply_patch",
      { input: `*** Begin Patch\n*** Update File: ${typed}\n*** Move to: new\n-text\n+new\n*** End Patch` },
      /there is "Screenshot/,
    ],
  ])("%s, when it is repeated, takes no other file, and names the one that is there", async (name, args, says) => {
    writeFileSync(join(root, typed), "text\n");
    expect(await call(name, args)).toMatch(/^(?:Removed|Moved) /);
    await call("remove", { path: "new" });
    expect(await call(name, args)).toMatch(says);
    expect(readdirSync(root)).toEqual([there]);
  });

  test("the name that remove told removes the file", async () => {
    const [, told = ""] = /there is (".*"), whose/.exec(await call("remove", { path: typed })) ?? [];
    expect(await call("remove", { path: JSON.parse(told) })).toMatch(/^Removed /);
    expect(readdirSync(root)).toEqual([]);
  });

  test("what is made has the name as given, and the one beside it is named", async () => {
    const beside = `; beside it is ${shown}, whose name looks the same`;
    expect(await call("write_file", { path: typed, content: "x" })).toContain(`(1 bytes)${beside}`);
    expect(await call("write_file", { path: typed, content: "y" })).not.toContain("beside");
    expect(readFileSync(join(root, there), "utf8")).toBe("text\n");
    await call("remove", { path: typed });
    expect(await call("mkdir", { path: typed })).toContain(beside);
    await call("remove", { path: typed });
    writeFileSync(join(root, "new"), "");
    expect(await call("move", { source: "new", destination: typed })).toContain(beside);
    await call("remove", { path: typed });
    expect(await call("move", { source: there, destination: typed })).not.toContain("beside");
    expect(existsSync(join(root, there))).toBe(false);
  });

  test("a guard judges the file that is opened", async () => {
    for (const tool of createFsTools({ root, cwd: root })) {
      if (!["read_file", "edit_file", "list_dir"].includes(tool.name)) continue;
      const effects = await tool.effects?.({ path: typed, edits: [] });
      expect(
        effects?.every(({ path }) => path === join(root, there)),
        tool.name,
      ).toBe(true);
    }
  });
});
