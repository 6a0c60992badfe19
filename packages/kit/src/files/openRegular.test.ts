import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { createPathScope } from "../paths/pathScope.ts";
import { openRegularFile } from "./openRegular.ts";

let base: string;
beforeEach(() => {
  base = temporaryFolder("open");
});

test("a regular file opens, in /proc too", () => {
  writeFileSync(join(base, "file"), "content");
  const scope = createPathScope();
  const file = openRegularFile(join(base, "file"), scope);
  expect(readFileSync(file.descriptor, "utf8")).toBe("content");
  expect(file.stats.size).toBe(7);
  file.close();
  if (process.platform === "linux") openRegularFile(`/proc/${process.pid}/status`, scope).close();
});

test("a pipe without a writer, a socket, a directory and a device are refused at once, by name", () => {
  const scope = createPathScope({ cwd: base });
  spawnSync("mkfifo", [join(base, "pipe")]);
  mkdirSync(join(base, "dir"));
  const server = createServer().listen(join(base, "socket"));
  expect(() => openRegularFile(join(base, "pipe"), scope)).toThrow("pipe is a named pipe");
  expect(() => openRegularFile(join(base, "dir"), scope)).toThrow("dir is a directory");
  expect(() => openRegularFile(join(base, "socket"), scope)).toThrow("socket is a socket");
  expect(() => openRegularFile("/dev/zero", scope)).toThrow("/dev/zero is a character device");
  server.close();
});

test("a link swapped in since the path was resolved is refused", () => {
  writeFileSync(join(base, "target"), "");
  symlinkSync("target", join(base, "link"));
  expect(() => openRegularFile(join(base, "link"), createPathScope())).toThrow(/symbolic link/);
});

test("a missing file is reported in plain words", () => {
  expect(() => openRegularFile(join(base, "no"), createPathScope({ cwd: base }))).toThrow(
    "No such file or directory: no (ENOENT); check the path",
  );
});
