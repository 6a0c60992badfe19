import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { createPathScope, type PathScope } from "../paths/pathScope.ts";
import { createTemporary, temporaryName, writeAtomically } from "./atomicWrite.ts";
import { OpenDirectory } from "./descriptors.ts";

let base: string;
let file: string;
let scope: PathScope;

beforeEach(() => {
  base = temporaryFolder("atomic");
  file = join(base, "file");
  scope = createPathScope({ cwd: base, root: base });
});

const root = process.getuid?.() === 0;

/** Writes "new" to each of the paths as a user without rights, and returns the results or errors. */
function asNobody(paths: readonly string[]): unknown {
  const script = `
    import * as files from ${JSON.stringify(join(import.meta.dirname, "../files.ts"))};
    const scope = files.createPathScope({ cwd: ${JSON.stringify(base)} });
    const answers = [];
    for (const path of ${JSON.stringify(paths.map((path) => join(base, path)))})
      answers.push(await files.writeAtomically(path, "new", { scope }).catch((error) => error.message));
    console.log(JSON.stringify(answers));`;
  const user = { uid: 65534, gid: 65534, encoding: "utf8", cwd: "/" } as const;
  const child = spawnSync(process.execPath, ["--input-type=module-typescript", "--eval", script], user);
  if (child.stdout === "") throw new Error(child.stderr);
  return JSON.parse(child.stdout);
}

describe("what is kept", () => {
  test("bytes are written as given, and nothing else is left in the directory", async () => {
    const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0, 255, 13, 10, 128]);
    expect(await writeAtomically(file, bytes, { scope })).toEqual({ bytes: 8, created: true });
    expect(readFileSync(file)).toEqual(bytes);
    expect(await writeAtomically(file, "é", { scope })).toEqual({ bytes: 2, created: false });
    expect(readdirSync(base)).toEqual(["file"]);
  });

  test("the old file is replaced, not written into: an open reader still has the old content whole", async () => {
    writeFileSync(file, "old");
    const before = statSync(file).ino;
    await writeAtomically(file, "new", { scope });
    expect(statSync(file).ino).not.toBe(before);
  });

  test.each([0o600, 0o644, 0o755, 0o4755, 0o1777])("mode %o is kept", async (mode) => {
    writeFileSync(file, "old");
    chmodSync(file, mode);
    await writeAtomically(file, "new", { scope });
    expect(statSync(file).mode & 0o7777).toBe(mode);
  });

  test("a new file has the mode that the umask gives", async () => {
    await writeAtomically(file, "", { scope });
    writeFileSync(join(base, "plain"), "");
    expect(statSync(file).mode).toBe(statSync(join(base, "plain")).mode);
  });

  test("a link stays a link and its target gets the content", async () => {
    symlinkSync("target", join(base, "link"));
    await writeAtomically(await scope.resolve("link"), "through", { scope });
    expect(lstatSync(join(base, "link")).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(base, "target"), "utf8")).toBe("through");
  });

  test("hard links stay linked, and the result says that the write was not atomic", async () => {
    writeFileSync(file, "longer old content");
    linkSync(file, join(base, "other"));
    expect(await writeAtomically(file, "new", { scope })).toEqual({ bytes: 3, created: false, inPlace: "hard links" });
    expect(readFileSync(join(base, "other"), "utf8")).toBe("new");
    await writeAtomically(file, "longer again, much longer", { scope });
    expect(readFileSync(join(base, "other"), "utf8")).toBe("longer again, much longer");
    expect(readdirSync(base).sort()).toEqual(["file", "other"]);
  });

  test.runIf(root)(
    "what a user without rights may write: in place, or not at all, or in a folder that it cannot list",
    async () => {
      for (const name of ["open", "closed"]) await writeAtomically(join(base, name), "old", { scope });
      mkdirSync(join(base, "blind"));
      chmodSync(base, 0o777);
      chmodSync(join(base, "open"), 0o666);
      // Its owner could replace it.
      chownSync(join(base, "closed"), 65534, 65534);
      chmodSync(join(base, "closed"), 0o444);
      chmodSync(join(base, "blind"), 0o333);
      expect(asNobody(["open", "closed", "blind/new"])).toEqual([
        { bytes: 3, created: false, inPlace: "owner" },
        expect.stringMatching(/closed \(EACCES\)/),
        { bytes: 3, created: true },
      ]);
      expect(statSync(join(base, "open"))).toMatchObject({ uid: 0, gid: 0 });
      expect(["open", "closed"].map((name) => readFileSync(join(base, name), "utf8"))).toEqual(["new", "old"]);
      expect(readdirSync(base).sort()).toEqual(["blind", "closed", "open"]);
    },
  );

  test("the longest names of the filesystem work, although the temporary file needs one too", async () => {
    const long = join(base, "n".repeat(255));
    await writeAtomically(long, "x", { scope });
    await writeAtomically(long, "y", { scope });
    expect(readFileSync(long, "utf8")).toBe("y");
  });
});

describe("what is refused", () => {
  test("directories, named pipes, sockets and devices, by name, and they are not changed", async () => {
    mkdirSync(join(base, "dir"));
    spawnSync("mkfifo", [join(base, "pipe")]);
    const server = createServer().listen(join(base, "socket"));
    for (const [name, kind] of [
      ["dir", "directory"],
      ["pipe", "named pipe"],
      ["socket", "socket"],
    ]) {
      const before = lstatSync(join(base, name as string)).ino;
      await expect(writeAtomically(join(base, name as string), "x", { scope })).rejects.toThrow(`${name} is a ${kind}`);
      expect(lstatSync(join(base, name as string)).ino).toBe(before);
    }
    server.close();
    await expect(writeAtomically("/dev/null", "x", { scope: createPathScope() })).rejects.toThrow(/character device/);
  });

  test("a parent swapped for a link that leads outside is noticed", async () => {
    const outside = temporaryFolder("outside");
    symlinkSync(outside, join(base, "dir"));
    await expect(writeAtomically(join(base, "dir/new/file"), "x", { scope })).rejects.toThrow();
    await expect(writeAtomically(join(base, "dir/file"), "x", { scope })).rejects.toThrow();
    mkdirSync(join(outside, "deep"));
    await expect(writeAtomically(join(base, "dir/deep/file"), "x", { scope })).rejects.toThrow(/outside/);
    expect(readdirSync(outside, { recursive: true })).toEqual(["deep"]);
  });

  test("a link swapped in while the bytes are being written is neither followed nor replaced", async () => {
    writeFileSync(join(base, "victim"), "safe");
    writeFileSync(file, "old");
    const running = writeAtomically(file, "new", { scope });
    rmSync(file);
    symlinkSync("victim", file);
    await expect(running).rejects.toThrow("file is a symbolic link");
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(base, "victim"), "utf8")).toBe("safe");
    expect(readdirSync(base).sort()).toEqual(["file", "victim"]);
  });

  test.runIf(process.platform === "linux")("a parent that is moved outside meanwhile prevents the write", async () => {
    const outside = temporaryFolder("outside");
    mkdirSync(join(base, "dir"));
    const running = writeAtomically(join(base, "dir/file"), "new", { scope });
    renameSync(join(base, "dir"), join(outside, "dir"));
    await expect(running).rejects.toMatchObject({ code: "permission_denied" });
    expect(readdirSync(outside, { recursive: true })).toEqual(["dir"]);
  });
});

describe("what is left after a failure", () => {
  test("nothing is committed after an abort, and parents that were made are removed", async () => {
    writeFileSync(file, "old");
    const aborted = AbortSignal.abort(new Error("stop"));
    await expect(writeAtomically(file, "new", { scope, call: { signal: aborted } })).rejects.toThrow("stop");
    const beginCommit = (): void => {
      throw new Error("too late");
    };
    await expect(writeAtomically(file, "new", { scope, call: { beginCommit } })).rejects.toThrow("too late");
    await expect(writeAtomically(join(base, "a/b/c"), "new", { scope, call: { beginCommit } })).rejects.toThrow();
    linkSync(file, join(base, "other"));
    await expect(writeAtomically(file, "new and longer", { scope, call: { beginCommit } })).rejects.toThrow("too late");
    expect(readFileSync(file, "utf8")).toBe("old");
    expect(readdirSync(base).sort()).toEqual(["file", "other"]);
  });

  test("an abort while a large file is being written leaves the old one and no temporary", async () => {
    writeFileSync(file, "old");
    const controller = new AbortController();
    const running = writeAtomically(file, Buffer.alloc(2 ** 25, 1), {
      scope,
      call: { signal: controller.signal },
    });
    setImmediate(() => controller.abort(new Error("stop")));
    await expect(running).rejects.toThrow();
    expect(readFileSync(file, "utf8")).toBe("old");
    expect(readdirSync(base)).toEqual(["file"]);
  });

  test("beginCommit is called once, after the bytes are written and right before the rename", async () => {
    writeFileSync(file, "old");
    const seen: string[] = [];
    const beginCommit = (): void => {
      const temporary = readdirSync(dirname(file)).find((name) => name !== "file") as string;
      seen.push(readFileSync(join(base, temporary), "utf8"), readFileSync(file, "utf8"));
    };
    await writeAtomically(file, "new", { scope, call: { beginCommit } });
    expect(seen).toEqual(["new", "old"]);
  });

  test.runIf(process.platform === "linux")(
    "no descriptor stays open, whether the write succeeds or fails",
    async () => {
      const open = (): number => readdirSync("/proc/self/fd").length;
      await writeAtomically(file, "warm", { scope });
      const before = open();
      const beginCommit = (): void => {
        throw new Error("too late");
      };
      for (let round = 0; round < 5; round += 1) {
        await writeAtomically(file, "new", { scope });
        await expect(writeAtomically(file, "x", { scope, call: { beginCommit } })).rejects.toThrow("too late");
        await expect(writeAtomically(join(base, "a/b"), "x", { scope, call: { beginCommit } })).rejects.toThrow();
      }
      // Fewer where those of an earlier file of tests were closed meanwhile.
      expect(open()).toBeLessThanOrEqual(before);
    },
  );

  test("errors carry their code and name only the short path", async () => {
    writeFileSync(file, "");
    const write = writeAtomically(join(file, "child"), "x", { scope });
    await expect(write).rejects.toThrow(/file\/child \(ENOTDIR\)/);
    await expect(write).rejects.not.toThrow(base);
  });
});

test("a name that is taken, by a planted link too, is never opened: another is chosen", () => {
  const taken = "11111111-1111-1111-1111-111111111111";
  const mock = vi.spyOn(crypto, "randomUUID").mockReturnValueOnce(taken);
  const planted = temporaryName();
  writeFileSync(join(base, "theirs"), "theirs");
  symlinkSync("theirs", join(base, planted));
  mock.mockReturnValueOnce(taken);
  const directory = new OpenDirectory(base);
  const own = createTemporary(directory, 0o600);
  writeSync(own.descriptor, "ours");
  own.close();
  expect(own.name).not.toBe(planted);
  expect(readFileSync(join(base, "theirs"), "utf8")).toBe("theirs");
  own.discard();
  directory.close();
  mock.mockRestore();
  expect(readdirSync(base).sort()).toEqual([planted, "theirs"].sort());
});
