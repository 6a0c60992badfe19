import { chmodSync, chownSync, fstatSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { createPathScope, type PathScope } from "../paths/pathScope.ts";

/** System calls that fail, by name: each is asked with what it is called on and answers the code it fails with, if any. */
const faults = vi.hoisted(() => new Map<string, (descriptor: number) => string | undefined>());

vi.mock("node:fs", async (importOriginal) => {
  const fs = await importOriginal<typeof import("node:fs")>();
  const failure = (name: string, descriptor: number): Error | undefined => {
    const code = faults.get(name)?.(descriptor);
    return code === undefined ? undefined : Object.assign(new Error(`${code}: ${name}`), { code });
  };
  return {
    ...fs,
    fchownSync: (descriptor: number, uid: number, gid: number) => {
      const error = failure("fchown", descriptor);
      if (error) throw error;
      fs.fchownSync(descriptor, uid, gid);
    },
    closeSync: (descriptor: number) => {
      const error = failure("close", descriptor);
      fs.closeSync(descriptor);
      if (error) throw error;
    },
    fsync: (descriptor: number, done: (error: Error | null) => void) => {
      const error = failure("fsync", descriptor);
      if (error) done(error);
      else fs.fsync(descriptor, done);
    },
  };
});

// Files of tests share a process: the modules are loaded anew with these system calls, and once more after them.
vi.resetModules();
const { writeAtomically } = await import("./atomicWrite.ts");
afterAll(() => {
  vi.doUnmock("node:fs");
  vi.resetModules();
});

let base: string;
let file: string;
let scope: PathScope;

beforeEach(() => {
  base = temporaryFolder("atomic-faults");
  file = join(base, "file");
  scope = createPathScope({ cwd: base, root: base });
  writeFileSync(file, "old");
});
afterEach(() => faults.clear());

const isRoot = process.getuid?.() === 0;

test("an owner that need not change is not set, since some filesystems refuse even that", async () => {
  faults.set("fchown", () => "EPERM");
  expect(await writeAtomically(file, "new", { scope })).toEqual({ bytes: 3, created: false });
  expect(readFileSync(file, "utf8")).toBe("new");
});

test.runIf(isRoot)("an atomic write keeps another owner, and another group, and the mode", async () => {
  const { uid, gid } = statSync(file);
  for (const [owner, group] of [
    [12345, gid],
    [uid, 54321],
  ] as const) {
    chownSync(file, owner, group);
    chmodSync(file, 0o640);
    const { ino } = statSync(file);
    expect(await writeAtomically(file, "new", { scope })).toEqual({ bytes: 3, created: false });
    expect(statSync(file)).toMatchObject({ uid: owner, gid: group });
    expect(statSync(file).ino).not.toBe(ino);
    expect(statSync(file).mode & 0o7777).toBe(0o640);
  }
});

test.runIf(isRoot)(
  "an owner that cannot be kept makes the write one in place, which is reported; no temporary file is left",
  async () => {
    chownSync(file, 12345, 54321);
    const { ino } = statSync(file);
    faults.set("fchown", () => "EPERM");
    expect(await writeAtomically(file, "new", { scope })).toEqual({ bytes: 3, created: false, inPlace: "owner" });
    expect(statSync(file)).toMatchObject({ ino, uid: 12345, gid: 54321 });
    expect(readFileSync(file, "utf8")).toBe("new");
    expect(readdirSync(base)).toEqual(["file"]);
  },
);

test.runIf(isRoot)("any other failure to keep the owner is reported, and the old file stays", async () => {
  chownSync(file, 12345, 54321);
  faults.set("fchown", () => "EIO");
  await expect(writeAtomically(file, "new", { scope })).rejects.toThrow(/input\/output error: file \(EIO\)/);
  expect(readFileSync(file, "utf8")).toBe("old");
  expect(readdirSync(base)).toEqual(["file"]);
});

test("an error that the system reports only at close keeps the old file", async () => {
  faults.set("close", (descriptor) => (fstatSync(descriptor).isFile() ? "EDQUOT" : undefined));
  await expect(writeAtomically(file, "new", { scope })).rejects.toThrow(/file \(EDQUOT\)/);
  expect(readFileSync(file, "utf8")).toBe("old");
  expect(readdirSync(base)).toEqual(["file"]);
});

test("a directory that cannot be flushed is reported: the new content is there, but not confirmed", async () => {
  faults.set("fsync", (descriptor) => (fstatSync(descriptor).isDirectory() ? "EIO" : undefined));
  await expect(writeAtomically(file, "new", { scope })).rejects.toMatchObject({
    code: "execution_failed",
    message: "file has its new content, but the device did not confirm it (EIO); read it back",
    cause: { code: "EIO" },
  });
  expect(readFileSync(file, "utf8")).toBe("new");
});
