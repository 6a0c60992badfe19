import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createMoveTool } from "./move.ts";

let base: string;
beforeEach(() => {
  base = temporaryFolder("move");
  writeFileSync(join(base, "file"), "content");
});

const move = (source: string, destination: string, options: { root?: string[] } = {}): Promise<string> =>
  createMoveTool({ cwd: base, ...options })
    .execute({ source, destination })
    .then(String);
const text = (name: string): string => readFileSync(join(base, name), "utf8");

describe("what moves", () => {
  test("a file, to new parents too", async () => {
    const { ino } = statSync(join(base, "file"));
    expect(await move("file", "a/b/new")).toBe("Moved file to a/b/new");
    expect(text("a/b/new")).toBe("content");
    expect(statSync(join(base, "a/b/new"))).toMatchObject({ ino, nlink: 1 });
    expect(readdirSync(base)).toEqual(["a"]);
  });

  test("a directory with all in it", async () => {
    mkdirSync(join(base, "dir/sub"), { recursive: true });
    writeFileSync(join(base, "dir/sub/x"), "x");
    await move("dir/", "new/dir/");
    expect(text("new/dir/sub/x")).toBe("x");
    expect(existsSync(join(base, "dir"))).toBe(false);
  });

  test("a file is not moved to a path that ends with a slash", async () => {
    for (const destination of ["new/", "new/.", "a/new/"]) {
      await expect(move("file", destination)).rejects.toThrow(
        "destination: ends like the path of a directory; name a file",
      );
    }
    expect(readdirSync(base)).toEqual(["file"]);
  });

  test("a link itself, its text unchanged", async () => {
    mkdirSync(join(base, "target"));
    symlinkSync("target", join(base, "link"));
    await move("link", "sub/link");
    expect(readlinkSync(join(base, "sub/link"))).toBe("target");
    symlinkSync("nowhere", join(base, "broken"));
    await move("broken", "broken2");
    expect(readlinkSync(join(base, "broken2"))).toBe("nowhere");
  });

  test("a named pipe", async () => {
    spawnSync("mkfifo", [join(base, "pipe")]);
    await move("pipe", "pipe2");
    expect(lstatSync(join(base, "pipe2")).isFIFO()).toBe(true);
  });

  test("a name that differs only in case", async () => {
    await move("file", "FILE");
    expect(readdirSync(base)).toEqual(["FILE"]);
    mkdirSync(join(base, "dir"));
    await move("dir", "Dir");
    expect(readdirSync(base).sort()).toEqual(["Dir", "FILE"]);
  });
});

describe("what is refused, without changing either side", () => {
  test("an existing target: file, directory, empty directory, link, broken link", async () => {
    writeFileSync(join(base, "other"), "other");
    mkdirSync(join(base, "dir"));
    mkdirSync(join(base, "dir2"));
    symlinkSync("other", join(base, "link"));
    symlinkSync("nowhere", join(base, "broken"));
    for (const [source, destination] of [
      ["file", "other"],
      ["file", "dir"],
      ["file", "link"],
      ["file", "broken"],
      ["dir", "dir2"],
      ["dir", "other"],
      ["link", "other"],
    ]) {
      await expect(move(source as string, destination as string)).rejects.toThrow(`Already exists: ${destination}`);
    }
    expect(text("other")).toBe("other");
    expect(readdirSync(base).sort()).toEqual(["broken", "dir", "dir2", "file", "link", "other"]);
  });

  test("a link with a slash after it, as source and as destination", async () => {
    mkdirSync(join(base, "dir"));
    mkdirSync(join(base, "other"));
    symlinkSync("other", join(base, "link"));
    symlinkSync("nowhere", join(base, "broken"));
    symlinkSync("file", join(base, "to-file"));
    const before = readdirSync(base, { recursive: true });
    for (const [link, path] of [
      ["link", "link/"],
      ["broken", "broken/."],
      ["to-file", "to-file//"],
    ] as const) {
      const words = `Refused: ${path} can mean a link or its target; for the link itself pass ${link},`;
      for (const [from, to] of [
        [path, "new"],
        ["dir", path],
        ["file", path],
      ] as const)
        await expect(move(from, to), path).rejects.toThrow(words);
    }
    expect(readdirSync(base, { recursive: true })).toEqual(before);
  });

  test.runIf(process.platform === "linux")("two hard links of one file whose names differ only in case", async () => {
    linkSync(join(base, "file"), join(base, "FILE"));
    await expect(move("file", "FILE")).rejects.toThrow("Already exists: FILE");
    expect(readdirSync(base).sort()).toEqual(["FILE", "file"]);
  });

  test("a target that is made right before the move", async () => {
    const beginCommit = (): void => writeFileSync(join(base, "new"), "theirs");
    const call = createMoveTool({ cwd: base }).execute({ source: "file", destination: "new" }, { beginCommit });
    await expect(call).rejects.toThrow(/Already exists/);
    expect([text("file"), text("new")]).toEqual(["content", "theirs"]);
  });

  test("a directory into itself, by a link too, and a path onto itself", async () => {
    mkdirSync(join(base, "dir"));
    symlinkSync("dir", join(base, "link"));
    for (const to of ["dir/sub", "dir/a/b", "link/sub", "./dir/../dir/x"]) {
      await expect(move("dir", to), to).rejects.toThrow(/lies inside the source/);
    }
    await expect(move("dir", "dir")).rejects.toThrow(/is the source itself/);
    await expect(move("file", "./file")).rejects.toThrow(/is the source itself/);
    expect(readdirSync(join(base, "dir"))).toEqual([]);
    await move("dir", "dir2");
  });

  test("the protected paths of remove", async () => {
    for (const source of ["/", "/etc", ".", "..", base, homedir(), process.cwd(), "x/.."]) {
      await expect(move(source, "new"), source).rejects.toThrow(/^Refused: /);
    }
  });

  test("a missing source, with its code; no parents are left behind", async () => {
    await expect(move("no", "a/b")).rejects.toThrow(/No such file or directory: no \(ENOENT\)/);
    await expect(move("file", "file/below")).rejects.toThrow(/\(ENOTDIR\)/);
    await expect(move("file", `a/b/${"x".repeat(300)}`)).rejects.toThrow(/ENAMETOOLONG/);
    expect(readdirSync(base)).toEqual(["file"]);
  });
});

const otherDevice = "/dev/shm";
const hasOtherDevice = existsSync(otherDevice) && statSync(otherDevice).dev !== statSync(tmpdir()).dev;

describe.runIf(hasOtherDevice)("to another device", () => {
  let far: string;
  beforeEach(() => {
    far = mkdtempSync(join(otherDevice, "move-"));
  });
  afterEach(() => rmSync(far, { recursive: true, force: true }));

  test("a file keeps content, mode and times", async () => {
    chmodSync(join(base, "file"), 0o640);
    utimesSync(join(base, "file"), 1000, 2000);
    await move("file", join(far, "sub/file"));
    const stats = statSync(join(far, "sub/file"));
    expect(readFileSync(join(far, "sub/file"), "utf8")).toBe("content");
    expect(stats.mode & 0o7777).toBe(0o640);
    expect(stats.mtimeMs).toBe(2_000_000);
    expect(readdirSync(base)).toEqual([]);
    expect(readdirSync(join(far, "sub"))).toEqual(["file"]);
  });

  test("a tree keeps links, modes and odd names, and the source is removed last", async () => {
    mkdirSync(join(base, "dir/a/b"), { recursive: true });
    writeFileSync(join(base, "dir/a/b/file"), Buffer.alloc(3_000_000, 5));
    symlinkSync("a/b", join(base, "dir/link"));
    chmodSync(join(base, "dir/a"), 0o711);
    writeFileSync(Buffer.concat([Buffer.from(`${base}/dir/`), Buffer.from([0xff])]), "odd");
    await move("dir", join(far, "dir"));
    expect(readFileSync(join(far, "dir/a/b/file")).equals(Buffer.alloc(3_000_000, 5))).toBe(true);
    expect(readlinkSync(join(far, "dir/link"))).toBe("a/b");
    expect(statSync(join(far, "dir/a")).mode & 0o7777).toBe(0o711);
    expect(readdirSync(join(far, "dir"), { encoding: "buffer" }).map((name) => name.toString("latin1"))).toContain(
      "\xff",
    );
    expect(existsSync(join(base, "dir"))).toBe(false);
  });

  test("an existing target stays, and a failure leaves the source whole and no temporary", async () => {
    mkdirSync(join(far, "taken"));
    await expect(move("file", join(far, "taken"))).rejects.toThrow(/Already exists/);
    mkdirSync(join(base, "dir/sub"), { recursive: true });
    writeFileSync(join(base, "dir/one"), "1");
    spawnSync("mkfifo", [join(base, "dir/sub/pipe")]);
    await expect(move("dir", join(far, "new/dir"))).rejects.toThrow(/contains a named pipe/);
    expect(readdirSync(join(base, "dir")).sort()).toEqual(["one", "sub"]);
    expect(readdirSync(far)).toEqual(["taken"]);
  });

  test("an abort during the copy leaves the source whole and no temporary", async () => {
    // Without blocks, and too long to be copied before the abort.
    writeFileSync(join(base, "big"), "");
    truncateSync(join(base, "big"), 2 ** 30);
    const controller = new AbortController();
    const tool = createMoveTool({ cwd: base });
    const call = tool.execute({ source: "big", destination: join(far, "big") }, { signal: controller.signal });
    setImmediate(() => setImmediate(() => controller.abort(new Error("stop"))));
    await expect(call).rejects.toThrow("stop");
    expect(statSync(join(base, "big")).size).toBe(2 ** 30);
    expect(readdirSync(far)).toEqual([]);
  });
});
