import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, onTestFinished } from "vitest";

/** Makes a folder, named by its real path, for a test or from its `beforeEach`. It is removed when the test is over. */
export function temporaryFolder(name: string): string {
  const folder = make(name);
  onTestFinished(() => remove(folder));
  return folder;
}

/** Makes a folder for all tests of a file or of a `describe`, which calls this. It is removed after the last of them. */
export function sharedFolder(name: string): string {
  const folder = make(name);
  afterAll(() => remove(folder));
  return folder;
}

/** For each test of a file a folder to work in, and beside it one for the state of the command, where its tools may not write. */
export function workFolders(name: string): { readonly folder: string; readonly state: string } {
  const folders = { folder: "", state: "" };
  beforeEach(() => {
    const own = temporaryFolder(name);
    folders.folder = join(own, "work");
    folders.state = join(own, "state");
    mkdirSync(folders.folder);
  });
  return folders;
}

/** Writes a file below `folder`, with the folders on its way. */
export function writeIn(folder: string, path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

function make(name: string): string {
  return realpathSync(mkdtempSync(join(tmpdir(), `toolcrib-${name}-`)));
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
