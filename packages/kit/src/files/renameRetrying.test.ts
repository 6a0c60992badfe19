import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { expect, test } from "vitest";
import { type RenameOptions, renameRetrying } from "./renameRetrying.ts";

/** A rename that fails with the codes, one a try, and then works; and what was asked of it. */
function failing(...codes: string[]): { seams: RenameOptions; tries: () => number; paused: number[] } {
  const paused: number[] = [];
  let tries = 0;
  const rename = (): void => {
    const code = codes[tries];
    tries += 1;
    if (code !== undefined) throw Object.assign(new Error(`${code}: rename 'C:\\host\\x'`), { code });
  };
  const pause = async (ms: number): Promise<void> => void paused.push(ms);
  return { seams: { rename, pause, isWindows: true }, tries: () => tries, paused };
}

test("on Windows a file that is open elsewhere for a while is replaced when it is closed", async () => {
  const { seams, tries } = failing("EPERM", "EACCES", "EBUSY");
  await renameRetrying("a", "b", "b.txt", seams);
  expect(tries()).toBe(4);
});

test("on Windows a file that stays open is told in words after about a second, without the host's path", async () => {
  const { seams, tries, paused } = failing(...Array.from({ length: 100 }, () => "EPERM"));
  const message =
    "Not changed, because another program has it open or it must not be changed: b.txt (EPERM); close it there, or try again later";
  await expect(renameRetrying("a", "b", "b.txt", seams)).rejects.toMatchObject({ code: "execution_failed", message });
  const sum = paused.reduce((total, ms) => total + ms, 0);
  expect([sum > 800 && sum < 1300, tries()]).toEqual([true, paused.length + 1]);
});

test("before each later try the caller looks again, and can end the tries", async () => {
  const { seams, tries } = failing("EBUSY", "EBUSY", "EBUSY");
  let looks = 0;
  const check = (): void => {
    looks += 1;
    if (looks === 2) throw new Error("changed meanwhile");
  };
  await expect(renameRetrying("a", "b", "b.txt", { ...seams, check })).rejects.toThrow("changed meanwhile");
  expect([tries(), looks]).toEqual([2, 2]);
});

test.each([
  ["elsewhere, whatever it is", false, "EPERM"],
  ["on Windows, when waiting cannot help", true, "ENOENT"],
])("an error is thrown at once as it is: %s", async (_, isWindows, code) => {
  const { seams, tries } = failing(code, code);
  await expect(renameRetrying("a", "b", "b.txt", { ...seams, isWindows })).rejects.toMatchObject({ code });
  expect(tries()).toBe(1);
});

test("a real file is replaced", async () => {
  const folder = temporaryFolder("rename");
  const [from, to] = [join(folder, "from"), join(folder, "to")];
  writeFileSync(from, "new");
  writeFileSync(to, "old");
  await renameRetrying(from, to, "to");
  expect(readFileSync(to, "utf8")).toBe("new");
});
