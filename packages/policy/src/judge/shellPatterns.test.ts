import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { judgeLine } from "../../../../testing/shell/judgeLine.ts";
import { sharedFolder } from "../../../../testing/src/temporaryFolder.ts";
import { createPolicy } from "../policy.ts";
import { readShellLine } from "../shell/readCommand.ts";
import { expandPattern, newBudget } from "./folders.ts";

const folder = join(sharedFolder("policy-patterns"), "in", "folder");
const names = [
  ".env",
  ".git",
  ".gut",
  "a",
  "b",
  "é",
  "]x",
  "[x",
  "a]b",
  "-x",
  "!x",
  "^x",
  "x.ts",
  "a b",
  "...",
  "..a",
  "[a]",
  "a\\b",
  "A",
];

beforeAll(() => {
  for (const name of [...names, ".git/hooks", "a/.env", "a/b"]) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, "..", "secret"), "");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const shells: readonly (readonly string[])[] = [
  ["dash", "-c"],
  ["bash", "+O", "globskipdots", "-c"],
  ["bash", "--posix", "-c"],
  ["bash", "-c"],
  ["busybox", "sh", "-c"],
].filter(([program = "", ...args]) => spawnSync(program, [...args.slice(0, -1), "-c", ":"]).status === 0);

const piece = fc.constantFrom(
  ...["*", "?", ".", "..", "/", "[", "]", "!", "^", "-", "a", "e", "g", "nv", "it", "x", "b", "\\", "'", '"', ":", "="],
  ...[
    "[a-z]",
    "[!a]",
    "[^.]",
    "[]x]",
    "[!]x]",
    "[[:lower:]]",
    "[[:punct:]e]",
    "[[.e.]]",
    "[[=e=]]",
    "[\\]e]",
    "['e]']",
    '["]"e]',
    "[a-",
    ".*",
    ".[.]",
    ".?",
    "[.]",
    "\\[",
    "[/]",
    "é",
  ],
);

/** A word that every shell reads whole. */
const word = fc
  .array(piece, { minLength: 1, maxLength: 6 })
  .map((pieces) => pieces.join(""))
  .filter((text) => readShellLine(`printf x ${text}`).unreadable === undefined && !text.startsWith("/"));

test.each(shells)("%s finds no name for a pattern that was not seen", (...shell) => {
  const words = [...new Set(fc.sample(word, 2000))];
  const [program = "", ...args] = shell;
  const script = words.map((text) => `printf '%s\\0' ${text}; printf '\\1\\0'`).join("\n");
  const output = execFileSync(program, [...args, script], {
    cwd: folder,
    // bash takes a socket as its standard input for a login from afar, and then reads the user's .bashrc.
    ...{ env: { LC_ALL: "C.UTF-8" }, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] },
  });
  const found = output.split("\u0001\0");
  const unseen = words.flatMap((text, at) => {
    const value = readShellLine(`printf x ${text}`).commands[0]?.words[2] ?? "";
    const seen = new Set(expandPattern(folder, value, newBudget(1e6)).map(plain));
    const missing = (found[at] ?? "")
      .split("\0")
      .slice(0, -1)
      .filter((name) => !seen.has(plain(name)) && name !== value);
    return missing.map((name) => `${text} -> ${name}`);
  });
  expect(unseen).toEqual([]);
  expect(
    found.filter((one, at) => one.split("\0").length > 2 || !one.startsWith(words[at] ?? "")).length,
  ).toBeGreaterThan(400);
});

/** Without slashes that do not matter. */
function plain(path: string): string {
  return path.replace(/\/+/g, "/").replace(/\/$/, "");
}

test.each([
  "cat .*/.*/etc/passwd",
  "cat .*/secret",
  "cat .[.]/secret",
  "cat .?/secret",
  "grep -r x .*",
  "find .*",
  "for f in .*/*; do echo x; done",
  "git diff .*/.*/a .*/b",
  "cat .[[:lower:]]nv",
  "cat .[]e]nv",
  "cat .[!]x]nv",
  "cat .[\\]e]nv",
  "cat <.env",
  "exec -- ls",
])("%s is not allowed where only reading inside of the folder is", async (line) => {
  const policy = createPolicy({ roots: folder, home: folder, mode: "read-only", deny: ["effect:read(.env)"] });
  expect((await judgeLine(policy, line, folder)).decision).not.toBe("allow");
});

test.each(["rm -r .*/secret", "rm .[.]/secret", "cp a .g[[:alpha:]]t/hooks", "rm -r .[]g]it"])(
  "%s is not covered by a rule",
  async (line) => {
    const policy = createPolicy({
      roots: folder,
      home: folder,
      allow: ["run_bash(rm *)", "run_bash(cp *)"],
      deny: ["effect:delete(secret)"],
    });
    expect((await judgeLine(policy, line, folder)).decision).not.toBe("allow");
  },
);

test("patterns that stay inside run", async () => {
  const policy = createPolicy({ roots: folder, home: folder, mode: "read-only", deny: ["effect:read(.env)"] });
  for (const line of ["cat *.ts", "cat [a-z]", "ls .g*", "for f in *.ts; do echo x; done", "cat .[[:upper:]]x"]) {
    const { decision, text } = await judgeLine(policy, line, folder);
    expect(decision, text).toBe("allow");
  }
});

test("a dash that bash alone reads in $'…' is no option unseen", async () => {
  const policy = createPolicy({ roots: folder, home: folder, mode: "read-only" });
  for (const dash of ["\\x{2d}", "\\x2d", "\\055"]) {
    expect((await judgeLine(policy, `find . $'${dash}exec' touch x \\;`, folder, "bash")).decision).not.toBe("allow");
  }
});
