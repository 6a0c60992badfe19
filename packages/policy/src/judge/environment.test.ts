import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { sharedFolder } from "@toolcrib/testing/temporaryFolder";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { judgeLine } from "../../../../testing/shell/judgeLine.ts";
import { createPolicy, type PolicyOptions } from "../index.ts";

const base = sharedFolder("policy-planted");
const root = join(base, "root");
const bin = join(root, "node_modules/.bin");
const path = process.env.PATH ?? "";

beforeEach(() => {
  mkdirSync(bin, { recursive: true });
  mkdirSync(join(root, "sub"), { recursive: true });
});
afterEach(() => {
  process.env.PATH = path;
  rmSync(root, { recursive: true });
});

function plant(place: string): void {
  writeFileSync(place, "#!/bin/sh\n");
  chmodSync(place, 0o755);
}

const decide = async (line: string, options: PolicyOptions = {}) =>
  (await judgeLine(createPolicy({ roots: root, home: base, ...options }), line, root)).decision;

describe("a program that only reads is asked about if PATH finds it", () => {
  test.each([
    ["inside a root", () => bin],
    ["in a relative folder", () => "node_modules/.bin"],
    ["through a link into a root", () => join(base, "link")],
  ])("%s", async (_, folder) => {
    if (!folder().startsWith(root) && folder().startsWith("/")) symlinkSync(bin, folder());
    process.env.PATH = [folder(), path].join(delimiter);
    expect(await decide("ls")).toBe("allow");
    plant(join(bin, "ls"));
    expect(await decide("ls")).toBe("ask");
    expect(await decide("cat a | ls")).toBe("ask");
    expect(await decide("env ls")).toBe("ask");
    expect(await decide("cat a")).toBe("allow");
    expect(await decide("ls", { mode: "read-only" })).toBe("deny");
    rmSync(join(base, "link"), { force: true });
  });

  test("in the folder that the command runs in", async () => {
    process.env.PATH = ["", path].join(delimiter);
    plant(join(root, "sub/ls"));
    expect(await decide("ls")).toBe("allow");
    expect(await decide("cd sub && ls")).toBe("ask");
  });

  test("where the line itself may put it", async () => {
    process.env.PATH = [bin, path].join(delimiter);
    const allow = ["run_bash(cp *)"];
    expect(await decide("cp a b && ls", { allow })).toBe("allow");
    expect(await decide("cp a node_modules/.bin/ls && ls", { allow })).toBe("ask");
    expect(await decide("echo x > node_modules/.bin/ls; ls", { mode: "accept-edits" })).toBe("ask");
  });
});

test("a folder of PATH elsewhere comes first, and a rule holds for the user's own programs", async () => {
  plant(join(bin, "ls"));
  plant(join(bin, "tsc"));
  process.env.PATH = [path, bin].join(delimiter);
  expect(await decide("ls")).toBe("allow");
  process.env.PATH = [bin, path].join(delimiter);
  expect(await decide("tsc", { allow: ["run_bash(tsc)"] })).toBe("allow");
  expect(await decide("ls", { allow: ["run_bash(ls)"] })).toBe("allow");
});
