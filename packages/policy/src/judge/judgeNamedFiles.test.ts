import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sharedFolder } from "@toolcrib/testing/temporaryFolder";
import { afterEach, beforeEach, expect, test } from "vitest";
import { judgeLine } from "../../../../testing/shell/judgeLine.ts";
import { createPolicy, type PolicyOptions } from "../index.ts";

const base = sharedFolder("policy-lists");
const root = join(base, "root");
const hash = "d41d8cd98f00b204e9800998ecf8427e";

beforeEach(() => mkdirSync(root, { recursive: true }));
afterEach(() => rmSync(root, { recursive: true }));

const decide = async (line: string, options: PolicyOptions = {}) =>
  (await judgeLine(createPolicy({ roots: root, home: base, ...options }), line, root)).decision;

function list(text: string): void {
  writeFileSync(join(root, "list"), text);
}

test("sums are compared unasked if the list names files inside the roots", async () => {
  expect(await decide("md5sum -c list")).toBe("allow");
  list(`${hash}  a\n${hash} *sub/b c\nMD5 (d) = ${hash}\n`);
  expect(await decide("md5sum -c list")).toBe("allow");
  expect(await decide("sha256sum --check --quiet list")).toBe("allow");
  expect(await decide("cd . && md5sum -c list")).toBe("allow");
});

test.each([
  ["a file outside", `${hash}  ../secret\n`],
  ["an absolute path", `${hash}  a\nMD5 (/etc/passwd) = ${hash}\n`],
  ["a link out", `${hash}  link\n`],
  ["a name with escapes", `\\${hash}  a\\nb\n`],
  ["a line that is no sum", `${hash}  a\n../secret\n`],
  ["a line that ends as on Windows", `${hash}  a\r\n`],
  ["too much", `${hash}  a\n`.repeat(10_000)],
])("a list with %s is asked about", async (_, text) => {
  symlinkSync("/etc/passwd", join(root, "link"));
  list(text);
  expect(await decide("md5sum -c list")).toBe("ask");
  expect(await decide("md5sum -c list", { mode: "read-only" })).toBe("deny");
  expect(await decide("md5sum list")).toBe("allow");
});

test("rules about reading bind what a list names", async () => {
  list(`${hash}  .env\n`);
  expect(await decide("md5sum -c list", { deny: ["effect:read(.env)"] })).toBe("deny");
  expect(await decide("md5sum -c l*", { deny: ["effect:read(.env)"] })).toBe("deny");
});

test("a list from the input, or one that the line may write, is asked about", async () => {
  list(`${hash}  a\n`);
  for (const line of ["md5sum -c", "cat list | md5sum -c -", "md5sum -c list -"])
    expect([line, await decide(line)]).toEqual([line, "ask"]);
  expect(await decide("cp b list && md5sum -c list", { allow: ["run_bash(cp *)"] })).toBe("ask");
});

test("a folder is no list", async () => {
  mkdirSync(join(root, "list"));
  expect(await decide("md5sum -c list")).toBe("ask");
});
