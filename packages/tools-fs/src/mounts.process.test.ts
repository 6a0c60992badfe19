import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";

const child = fileURLToPath(new URL("../../../testing/suites/files/toolChild.ts", import.meta.url));
const canMount = spawnSync("unshare", ["-m", "true"]).status === 0;

let root: string;
beforeEach(() => {
  root = temporaryFolder("mounts");
  mkdirSync(join(root, "work"));
  writeFileSync(join(root, "host"), "old\n");
  writeFileSync(join(root, "work/file"), "");
});

/** Runs the calls in a namespace of their own where `script` has mounted something, and returns the answers. */
function answers(script: string, calls: readonly [tool: string, args: object, options?: object][]): string[] {
  const cwd = join(root, "work");
  const input = calls
    .map(([tool, args, options]) => JSON.stringify({ tool, args, options: { cwd, ...options } }))
    .join("\n");
  const command = `cd ${cwd} && ${script} && exec "${process.execPath}" "${child}"`;
  const { stdout, stderr } = spawnSync("unshare", ["-m", "sh", "-c", command], { input, encoding: "utf8" });
  const [, ...lines] = stdout.trim().split("\n");
  expect(lines, stderr).toHaveLength(calls.length);
  return lines.map((line) => (JSON.parse(line) as { output: string }).output);
}

describe.runIf(canMount)("files that are mounts", () => {
  const mount = "mount --bind ../host file";
  const inPlace = "written in place, not atomically, because it is a mount";

  test("a single file that is mounted is written in place, by each tool that changes text, and the reply says so", () => {
    const edits = [{ old_text: "new", new_text: "newer" }];
    const input = "*** Begin Patch\n*** Update File: file\n-newer\n+newest\n*** End Patch";
    const replies = answers(mount, [
      ["write_file", { path: "file", content: "new\n" }],
      ["edit_file", { path: "file", edits }],
      ["apply_patch", { input }],
      ["read_file", { path: "file" }],
      ["list_dir", { path: "." }],
    ]);
    expect(replies).toEqual([
      `Wrote file (4 bytes); ${inPlace}`,
      expect.stringMatching(new RegExp(`^file; ${inPlace}\n\n--- file`)),
      `Changed file; ${inPlace}`,
      "newest\n",
      "file",
    ]);
    expect(readFileSync(join(root, "host"), "utf8")).toBe("newest\n");
    expect(readFileSync(join(root, "work/file"), "utf8")).toBe("");
  });

  test("it is neither moved nor removed, by a patch neither, and the reply says why", () => {
    const refused = expect.stringContaining(
      "Refused: file is a mount, which only the one who mounted it can move or remove",
    );
    const patch = (body: string): object => ({ input: `*** Begin Patch\n${body}\n*** End Patch` });
    expect(
      answers(mount, [
        ["move", { source: "file", destination: "x" }],
        ["remove", { path: "file" }],
        ["apply_patch", patch("*** Delete File: file")],
        ["apply_patch", patch("*** Update File: file\n*** Move to: x\n-old\n+new")],
      ]),
    ).toEqual([refused, refused, refused, refused]);
    expect(readFileSync(join(root, "host"), "utf8")).toBe("old\n");
  });

  test("a read-only mount, and one whose name has a space and an accent", () => {
    writeFileSync(join(root, "work/a \u00e9"), "");
    const script = `mount --bind ../host "a \u00e9" && ${mount} && mount -o remount,ro,bind file`;
    const [written, refused] = answers(script, [
      ["write_file", { path: "a \u00e9", content: "new" }],
      ["write_file", { path: "file", content: "newer" }],
    ]);
    expect(written).toContain(inPlace);
    expect(refused).toContain("The filesystem is read-only");
    expect(readFileSync(join(root, "host"), "utf8")).toBe("new");
  });

  test("a tree with a mounted filesystem in it is not removed", () => {
    const script = "mkdir -p tree/mnt && mount -t tmpfs tmpfs tree/mnt && touch tree/first tree/mnt/inside";
    const [reply] = answers(script, [["remove", { path: "tree" }]]);
    expect(reply).toMatch(/Refused: tree is where another filesystem is mounted, or above such a place/);
  });
});
