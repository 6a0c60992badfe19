import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startToolChild, type ToolChild } from "./child.ts";
import { snapshot } from "./snapshot.ts";

const canMount = spawnSync("unshare", ["-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]).status === 0;
const canTrace = spawnSync("strace", ["-o", "/dev/null", "-e", "inject=fsync:error=EIO", "true"]).status === 0;
if (!canMount)
  console.log("skipped: a full, inode-less or read-only filesystem (needs unshare -m and mount: root on Linux)");
if (!canTrace) console.log("skipped: injected system-call errors (needs strace with the right to trace)");

let base: string;
let child: ToolChild;
let tracer: ChildProcess | undefined;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "faults-")));
  writeFileSync(join(base, "old"), "old content\n".repeat(100));
  writeFileSync(join(base, "linked"), "linked content\n");
  linkSync(join(base, "linked"), join(base, "linked too"));
  mkdirSync(join(base, "dir/sub"), { recursive: true });
  writeFileSync(join(base, "dir/sub/file"), "inside");
});
afterEach(async () => {
  tracer?.kill("SIGKILL");
  tracer = undefined;
  await child?.kill();
  rmSync(base, { recursive: true, force: true });
});

/** From here on the child's system calls of these names fail. */
async function inject(calls: string, error: string, when = ""): Promise<void> {
  const filter = `inject=${calls}:error=${error}${when && `:when=${when}`}`;
  const strace = spawn("strace", [
    "-f",
    "-p",
    String(child.process.pid),
    "-o",
    "/dev/null",
    "-e",
    `trace=${calls}`,
    "-e",
    filter,
  ]);
  tracer = strace;
  let told = "";
  while (!told.includes("attached")) told += String((await once(strace.stderr, "data"))[0]);
  while (!everyThreadIsTraced()) await new Promise((resolve) => setTimeout(resolve, 20));
}

function everyThreadIsTraced(): boolean {
  const threads = `/proc/${child.process.pid}/task`;
  return readdirSync(threads).every(
    (thread) => !/^TracerPid:\t0$/m.test(readFileSync(`${threads}/${thread}/status`, "utf8")),
  );
}

const renames = "rename,renameat,renameat2";
const links = "link,linkat";
const edits = [{ old_text: "old content\nold content\n", new_text: "x", replace_all: true }];
const big = "y".repeat(100_000);

type Case = [string, string, string, string, string, Record<string, unknown>];
const cases: Case[] = [
  // error, what fails, which calls, when, tool, args
  ...["EIO", "EDQUOT", "ENOSPC", "EFBIG"].flatMap((error): Case[] => [
    [error, "write", "pwrite64", "", "write_file", { path: "old", content: big }],
    [error, "write", "pwrite64", "", "write_file", { path: "new/deep/file", content: big }],
    [error, "write", "pwrite64", "", "write_file", { path: "linked", content: big }],
    [error, "write", "pwrite64", "", "edit_file", { path: "old", edits }],
  ]),
  ["EIO", "fsync", "fsync", "1", "write_file", { path: "old", content: big }],
  ["EIO", "fsync", "fsync", "1", "write_file", { path: "new/file", content: big }],
  ["EIO", "fsync", "fsync", "1", "write_file", { path: "linked", content: big }],
  // Every close: the C library opens and closes a file, too, when it counts processors.
  ["EIO", "close", "close", "", "write_file", { path: "old", content: big }],
  ["EIO", "chmod", "fchmod", "", "write_file", { path: "old", content: big }],
  ...["EIO", "EROFS", "EPERM", "EACCES", "EBUSY", "ENOSPC"].flatMap((error): Case[] => [
    [error, "rename", renames, "", "write_file", { path: "old", content: big }],
    [error, "rename", renames, "", "edit_file", { path: "old", edits }],
    [error, "rename", renames, "", "move", { source: "dir", destination: "a/b/dir" }],
    [error, "link and rename", `${links},${renames}`, "", "move", { source: "old", destination: "a/b/new" }],
  ]),
  ...["EIO", "EACCES", "ENOSPC", "EROFS"].map(
    (error): Case => [error, "mkdir", "mkdir,mkdirat", "", "mkdir", { path: "x/y/z" }],
  ),
  ["ENOSPC", "second mkdir", "mkdir,mkdirat", "2+", "mkdir", { path: "x/y/z" }],
  ["ENOSPC", "second mkdir", "mkdir,mkdirat", "2+", "write_file", { path: "x/y/z", content: "" }],
  ...["EMFILE", "ENFILE", "EIO"].flatMap((error): Case[] => [
    [error, "open", "open,openat", "", "write_file", { path: "old", content: big }],
    [error, "open", "open,openat", "", "read_file", { path: "old" }],
    [error, "open", "open,openat", "", "list_dir", { path: "." }],
    [error, "open", "open,openat", "", "remove", { path: "dir" }],
    [error, "open", "open,openat", "", "move", { source: "old", destination: "new" }],
  ]),
  ["EIO", "unlink", "unlink,unlinkat", "1+", "remove", { path: "dir" }],
  ["EIO", "unlink", "unlink,unlinkat", "1", "move", { source: "old", destination: "new" }],
];

describe.runIf(canTrace)(
  "an error of the system is answered in words with its code, and the disk stays as it was",
  () => {
    test.each(cases)("%s from %s (%s %s): %s %#", async (error, _what, calls, when, tool, args) => {
      const before = snapshot(base, true);
      const undone = snapshot(base);
      child = await startToolChild();
      await inject(calls, error, when);
      const { output } = await child.call(tool, args, { cwd: base });
      expect(output).toMatch(new RegExp(`^Error executing ${tool}: .*\\(${error}\\)`));
      expect(output).not.toContain(base);
      // A file written in place was truncated and restored, so its time may differ.
      const seen = args.path === "linked" ? [snapshot(base), undone] : [snapshot(base, true), before];
      expect(withoutDirectoryTimes(seen[0] ?? {})).toEqual(withoutDirectoryTimes(seen[1] ?? {}));
    });

    test("EXDEV from rename and link: the move is made by copying", async () => {
      child = await startToolChild();
      await inject(`${renames},${links}`, "EXDEV", "1");
      const { output } = await child.call("move", { source: "dir", destination: "moved" }, { cwd: base });
      expect(output).toBe("Moved dir to moved");
      expect(Object.keys(snapshot(base)).sort()).toEqual([
        "linked",
        "linked too",
        "moved",
        "moved/sub",
        "moved/sub/file",
        "old",
      ]);
    });

    test("EIO when the directory is flushed: the new content is in place, and the answer says so", async () => {
      child = await startToolChild();
      await inject("fsync", "EIO", "2");
      const { output } = await child.call("write_file", { path: "old", content: "new" }, { cwd: base });
      expect(output).toMatch(/old has its new content, but the device did not confirm it \(EIO\)/);
    });
  },
);

/** Without the times of directories, which change when a file is made and removed again. */
function withoutDirectoryTimes(found: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(found).map(([name, what]) => [name, what.replace(/^directory.*/, "directory")]),
  );
}

/**
 * Runs calls on a filesystem mounted at `mount` in a private namespace. Returns the answers, and what lay there before and
 * after.
 */
function onFilesystem(
  options: string,
  prepare: string,
  calls: [string, Record<string, unknown>][],
): { outputs: string[]; kept: boolean; listing: string } {
  const mount = join(base, "mounted");
  mkdirSync(mount);
  const requests = calls.map(([tool, args]) => JSON.stringify({ tool, args, options: { cwd: mount } })).join("\n");
  writeFileSync(join(base, "requests"), `${requests}\n`);
  const state = "find . ! -name . | sort; find . -type f | sort | xargs -d '\\n' md5sum";
  const script = [
    `mount -t tmpfs -o ${options} tmpfs ${mount} && cd ${mount}`,
    prepare,
    `before=$(${state})`,
    `cd ${mount} && ${process.execPath} ${join(import.meta.dirname, "toolChild.ts")} < ${join(base, "requests")}`,
    `after=$(${state})`,
    `[ "$before" = "$after" ] && echo kept; echo "$after"`,
  ].join("\n");
  const { stdout, stderr } = spawnSync("unshare", ["-m", "sh", "-c", script], { encoding: "utf8" });
  const lines = stdout.split("\n");
  const outputs = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line).output as string);
  if (outputs.length !== calls.length) throw new Error(`${stdout}\n${stderr}`);
  return { outputs, kept: lines.includes("kept"), listing: stdout };
}

describe.runIf(canMount)("a filesystem that is full, has no inodes left, or is read-only", () => {
  const files = "echo old > old; echo linked > linked; ln linked twin; mkdir dir; echo x > dir/x";

  test("ENOSPC: old contents whole, nothing left over", () => {
    const { outputs, kept, listing } = onFilesystem("size=256k", files, [
      ["write_file", { path: "old", content: "z".repeat(1_000_000) }],
      ["write_file", { path: "new/deep/file", content: "z".repeat(1_000_000) }],
      ["write_file", { path: "linked", content: "z".repeat(1_000_000) }],
      ["edit_file", { path: "old", edits: [{ old_text: "old", new_text: "z".repeat(1_000_000) }] }],
    ]);
    for (const output of outputs) expect(output).toMatch(/^Error executing .*No space.*\(ENOSPC\)/);
    expect(kept, listing).toBe(true);
  });

  test("ENOSPC on the way to another device: the source stays, nothing is left there", () => {
    writeFileSync(join(base, "large"), Buffer.alloc(1_000_000, 1));
    mkdirSync(join(base, "tree"));
    writeFileSync(join(base, "tree/small"), "small");
    writeFileSync(join(base, "tree/large"), Buffer.alloc(1_000_000, 1));
    const before = snapshot(join(base, "tree"), true);
    const { outputs, kept, listing } = onFilesystem("size=256k", files, [
      ["move", { source: join(base, "large"), destination: "new/large" }],
      ["move", { source: join(base, "tree"), destination: "new/tree" }],
    ]);
    for (const output of outputs) expect(output).toMatch(/\(ENOSPC\)/);
    expect(kept, listing).toBe(true);
    expect(statSync(join(base, "large")).size).toBe(1_000_000);
    expect(snapshot(join(base, "tree"), true)).toEqual(before);
  });

  test("no inodes left", () => {
    const fill = `${files}; i=0; while touch fill-$i 2>/dev/null; do i=$((i+1)); done`;
    const { outputs, kept, listing } = onFilesystem("nr_inodes=40", fill, [
      ["write_file", { path: "old", content: "new" }],
      ["write_file", { path: "new", content: "new" }],
      ["mkdir", { path: "made" }],
      ["edit_file", { path: "old", edits: [{ old_text: "old", new_text: "new" }] }],
    ]);
    for (const output of outputs) expect(output).toMatch(/\(ENOSPC\)/);
    expect(kept, listing).toBe(true);
  });

  test("EROFS: every change is refused", () => {
    const { outputs, kept, listing } = onFilesystem("size=1m", `${files}; mount -o remount,ro .`, [
      ["write_file", { path: "old", content: "new" }],
      ["write_file", { path: "a/b", content: "new" }],
      ["write_file", { path: "linked", content: "new" }],
      ["edit_file", { path: "old", edits: [{ old_text: "old", new_text: "new" }] }],
      ["mkdir", { path: "made" }],
      ["remove", { path: "dir" }],
      ["remove", { path: "old" }],
      ["move", { source: "old", destination: "moved" }],
      ["move", { source: "dir", destination: "moved" }],
    ]);
    for (const output of outputs) expect(output).toMatch(/^Error executing .*read-only.*\(EROFS\)/);
    expect(kept, listing).toBe(true);
  });
});

test.runIf(process.getuid?.() === 0 && existsSync("/usr/bin/setpriv"))(
  "EACCES: without the right to a directory",
  async () => {
    chmodSync(base, 0o755);
    chmodSync(join(base, "dir"), 0o700);
    symlinkSync("dir/sub", join(base, "link"));
    const before = snapshot(base, true);
    child = await startToolChild(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]);
    const calls: [string, Record<string, unknown>][] = [
      ["read_file", { path: "dir/sub/file" }],
      ["read_file", { path: "link/file" }],
      ["write_file", { path: "old", content: "x" }],
      ["write_file", { path: "new", content: "x" }],
      ["list_dir", { path: "dir" }],
      ["mkdir", { path: "dir/new" }],
      ["remove", { path: "old" }],
      ["remove", { path: "dir" }],
      ["move", { source: "old", destination: "new" }],
    ];
    for (const [tool, args] of calls) {
      const { output } = await child.call(tool, args, { cwd: base });
      expect(output, `${tool} ${JSON.stringify(args)}`).toMatch(/Permission denied.*\(EACCES\)/);
    }
    expect(snapshot(base, true)).toEqual(before);
  },
);
