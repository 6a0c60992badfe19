import { spawnSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { OpenDirectory } from "@toolcrib/kit/files";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { createRemoveTool } from "./remove.ts";
import { removeTree } from "./removeTree.ts";

let base: string;
let cwd: string;
beforeEach(() => {
  base = temporaryFolder("remove");
  cwd = join(base, "up/cwd");
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, "file"), "kept");
});

const remove = (path: string, options: { cwd?: string; root?: string } = {}): Promise<string> =>
  createRemoveTool({ cwd, ...options })
    .execute({ path })
    .then(String);

function listTree(directory: string): string[] {
  return readdirSync(directory, { recursive: true }).map(String).sort();
}

describe("what is removed", () => {
  test("a file, an empty directory, a tree; what does not exist is success", async () => {
    mkdirSync(join(cwd, "tree/a/b"), { recursive: true });
    writeFileSync(join(cwd, "tree/a/b/c"), "");
    mkdirSync(join(cwd, "empty"));
    expect(await remove("tree")).toBe("Removed tree (4 entries)");
    expect(await remove("empty/")).toBe("Removed empty (1 entries)");
    expect(await remove("file")).toBe("Removed file");
    expect(await remove("file")).toBe("Nothing to remove: file");
    expect(await remove("no/such/path")).toBe("Nothing to remove: no/such/path");
    expect(readdirSync(cwd)).toEqual([]);
  });

  test("a path below a file does not exist either", async () => {
    expect(await remove("file/child")).toBe("Nothing to remove: file/child");
    expect(readFileSync(join(cwd, "file"), "utf8")).toBe("kept");
  });

  test("names that only resemble protected ones stay removable", async () => {
    for (const name of ["..a", "...", "~", " "]) {
      mkdirSync(join(cwd, name));
      expect(await remove(name)).toMatch(/^Removed/);
    }
    mkdirSync(`${cwd}2`);
    expect(await remove("../cwd2")).toMatch(/^Removed/);
  });

  test.runIf(process.platform === "linux")("names that are not valid UTF-8, and pipes and sockets", async () => {
    mkdirSync(join(cwd, "tree"));
    writeFileSync(Buffer.concat([Buffer.from(`${cwd}/tree/`), Buffer.from([0xff, 0xfe])]), "");
    mkdirSync(Buffer.concat([Buffer.from(`${cwd}/tree/`), Buffer.from([0xe9])]));
    spawnSync("mkfifo", [join(cwd, "tree/pipe")]);
    expect(await remove("tree")).toBe("Removed tree (4 entries)");
  });
});

describe("links", () => {
  let outside: string;
  beforeEach(() => {
    outside = join(base, "outside");
    mkdirSync(join(outside, "dir"), { recursive: true });
    writeFileSync(join(outside, "dir/kept"), "kept");
  });

  test("inside a tree are unlinked and never followed", async () => {
    mkdirSync(join(cwd, "tree/sub"), { recursive: true });
    symlinkSync(outside, join(cwd, "tree/abs"));
    symlinkSync("../../../../outside/dir", join(cwd, "tree/sub/rel"));
    symlinkSync("loop", join(cwd, "tree/loop"));
    linkSync(join(outside, "dir/kept"), join(cwd, "tree/hard"));
    expect(await remove("tree")).toMatch(/^Removed/);
    expect(readFileSync(join(outside, "dir/kept"), "utf8")).toBe("kept");
  });

  test("a link is removed, not its target; with a slash after it, it is refused", async () => {
    const target = join(outside, "dir");
    symlinkSync(target, join(cwd, "link"));
    symlinkSync(join(target, "kept"), join(cwd, "to-file"));
    symlinkSync("nowhere", join(cwd, "dangling"));
    mkdirSync(join(cwd, "a"));
    for (const link of ["link", "to-file", "dangling"]) {
      for (const path of [`${link}/`, `a/../${link}/.`]) {
        await expect(remove(path), path).rejects.toThrow(
          `Refused: ${path} can mean a link or its target; for the link itself pass ${link},`,
        );
      }
    }
    await expect(remove("link/")).rejects.toThrow(`for its target pass ${target}`);
    await expect(remove("link/x/..")).rejects.toThrow(/^Refused: /);
    expect(readFileSync(join(target, "kept"), "utf8")).toBe("kept");
    for (const link of ["link", "to-file", "dangling"]) expect(await remove(link)).toBe(`Removed ${link}`);
    expect(readFileSync(join(target, "kept"), "utf8")).toBe("kept");
    expect(await remove(target)).toMatch(/\(2 entries\)$/);
  });

  test("a directory replaced by a link during the walk is unlinked, its target untouched", async () => {
    mkdirSync(join(cwd, "tree/victim"), { recursive: true });
    // A race between the check of the entry and entering it.
    const call = {
      beginCommit: () => {},
      get signal(): undefined {
        return undefined;
      },
    };
    renameSync(join(cwd, "tree/victim"), join(cwd, "gone"));
    symlinkSync(outside, join(cwd, "tree/victim"));
    await removeTree(new OpenDirectory(join(cwd, "tree")), "victim", true, call);
    expect(existsSync(join(outside, "dir/kept"))).toBe(true);
    expect(readdirSync(join(cwd, "tree"))).toEqual([]);
  });

  test.runIf(process.getuid?.() === 0 && process.platform === "linux")(
    "a link that cannot be unlinked is an error, and its target keeps its content",
    async () => {
      await expect(createRemoveTool().execute({ path: "/proc/self/cwd" })).rejects.toThrow();
      expect(existsSync(join(process.cwd(), "package.json"))).toBe(true);
    },
  );
});

describe("what is refused, before anything is touched", () => {
  test.each([
    ...["/", "/../..", "../".repeat(40), "/etc", "/usr/", "/usr/../etc/.", "/no-such-name-here", homedir()],
    ...[".", "./", "x/..", "../cwd", "..", process.cwd()],
    ...["BASE/up/cwd", "BASE/up/", "BASE"],
  ])("%s", async (path) => {
    const before = listTree(base);
    await expect(remove(path.replace("BASE", base))).rejects.toThrow(/^Refused: /);
    expect(listTree(base)).toEqual(before);
  });

  test("the refusal says whether it is the directory itself or one above it", async () => {
    await expect(remove(".")).rejects.toThrow("Refused: . is the working directory;");
    await expect(remove("..")).rejects.toThrow(/^Refused: .* is above the working directory;/);
    await expect(remove("../..")).rejects.toThrow(/^Refused: .* is above the working directory;/);
  });

  test("a protected path through a link with a slash, and through a link in the middle", async () => {
    symlinkSync(cwd, join(base, "to-cwd"));
    symlinkSync(join(base, "up"), join(base, "to-up"));
    symlinkSync("/", join(base, "to-root"));
    for (const path of ["to-cwd/", "to-cwd/.", "to-up/", "to-up/cwd", "to-cwd/..", "to-root/", "to-root/etc"]) {
      await expect(remove(`${base}/${path}`), path).rejects.toThrow(/^Refused: /);
    }
    expect(readFileSync(join(cwd, "file"), "utf8")).toBe("kept");
  });

  test("the working directory, and the link by which it was given", async () => {
    symlinkSync(join(base, "up"), join(base, "alias"));
    const options = { cwd: join(base, "alias/cwd") };
    for (const path of [cwd, join(base, "up"), "..", `${base}/alias/`]) {
      await expect(remove(path, options), path).rejects.toThrow(/^Refused: /);
    }
  });

  test("a home directory, through the link that HOME names", async () => {
    const home = process.env.HOME;
    mkdirSync(join(base, "data/user"), { recursive: true });
    symlinkSync(join(base, "data/user"), join(base, "home"));
    process.env.HOME = join(base, "home");
    try {
      for (const path of ["home", "home/", "data/user", "data"]) {
        await expect(remove(`${base}/${path}`), path).rejects.toThrow(/^Refused: /);
      }
    } finally {
      if (home === undefined) delete process.env.HOME;
      else process.env.HOME = home;
    }
  });

  test("a root, and everything outside the roots", async () => {
    mkdirSync(join(cwd, "inner/deep"), { recursive: true });
    const options = { cwd: join(cwd, "inner/deep"), root: join(cwd, "inner") };
    await expect(remove("..", options)).rejects.toThrow(/^Refused: /);
    await expect(remove("../../file", options)).rejects.toMatchObject({ code: "permission_denied" });
    symlinkSync(base, join(cwd, "inner/deep/link"));
    await expect(remove("link/up", options)).rejects.toThrow(/outside/);
    expect(await remove("link", options)).toBe("Removed link");
  });
});

describe("size", () => {
  test.runIf(process.platform === "linux")("200 levels, deeper than any path may be long", async () => {
    mkdirSync(join(cwd, "deep"));
    let directory = new OpenDirectory(join(cwd, "deep"));
    for (let level = 0; level < 200; level += 1) {
      const name = `${level}${"-".repeat(100)}`;
      mkdirSync(directory.at(name));
      const next = new OpenDirectory(directory.at(name));
      directory.close();
      directory = next;
    }
    writeFileSync(directory.at("end"), "");
    directory.close();
    expect(await remove("deep")).toBe("Removed deep (202 entries)");
  });

  test("a directory with more entries than one batch", async () => {
    mkdirSync(join(cwd, "wide"));
    for (let index = 0; index < 2500; index += 1) writeFileSync(join(cwd, "wide", `${index}`), "");
    expect(await remove("wide")).toBe("Removed wide (2501 entries)");
  });
});

test("after the call has ended nothing more is removed", async () => {
  mkdirSync(join(cwd, "tree"));
  for (let index = 0; index < 10; index += 1) writeFileSync(join(cwd, "tree", `${index}`), "");
  let left = 3;
  const beginCommit = (): void => {
    left -= 1;
    if (left < 0) throw new Error("ended");
  };
  await expect(createRemoveTool({ cwd }).execute({ path: "tree" }, { beginCommit })).rejects.toThrow("ended");
  expect(readdirSync(join(cwd, "tree"))).toHaveLength(7);
});

test.runIf(process.platform === "linux")("no descriptor stays open, even after errors", async () => {
  const open = (): number => readdirSync("/proc/self/fd").length;
  const before = open();
  const stop = {
    beginCommit: () => {
      throw new Error("ended");
    },
  };
  for (let index = 0; index < 20; index += 1) {
    mkdirSync(join(cwd, `tree/${index}`), { recursive: true });
    await createRemoveTool({ cwd })
      .execute({ path: "tree" }, stop)
      .catch(() => {});
    await remove("no");
    await remove("tree");
    await remove("/etc").catch(() => {});
  }
  expect(open()).toBeLessThanOrEqual(before);
  expect([basename(cwd), dirname(cwd)]).toEqual(["cwd", join(base, "up")]);
});
