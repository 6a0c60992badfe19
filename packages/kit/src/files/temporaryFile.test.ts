import { readdirSync, readFileSync, symlinkSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createTemporary, temporaryName } from "./atomicWrite.ts";
import { openDirectory } from "./descriptors.ts";

let base: string;
beforeEach(() => {
  base = temporaryFolder("temporary");
});
afterEach(() => void vi.restoreAllMocks());

test("a name that is taken, by a planted link too, is never opened: another is chosen", () => {
  const taken = "11111111-1111-1111-1111-111111111111";
  const mock = vi.spyOn(crypto, "randomUUID").mockReturnValueOnce(taken);
  const planted = temporaryName();
  writeFileSync(join(base, "theirs"), "theirs");
  symlinkSync("theirs", join(base, planted));
  mock.mockReturnValueOnce(taken);
  const directory = openDirectory(base);
  const file = createTemporary(directory, 0o600);
  writeSync(file.descriptor, "ours");
  file.close();
  expect(file.name).not.toBe(planted);
  expect(readFileSync(join(base, "theirs"), "utf8")).toBe("theirs");
  file.discard();
  directory.close();
  expect(readdirSync(base).sort()).toEqual([planted, "theirs"].sort());
});
