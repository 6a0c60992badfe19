import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { createRunBashTool } from "../../../tools-bash/src/runBash.ts";
import { createPolicy, type PolicyOptions } from "../index.ts";

let root: string;
let canary: string;

function git(directory: string, ...args: string[]): void {
  const settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"];
  execFileSync("git", [...settings, ...args], { cwd: directory, stdio: "pipe" });
}

/** A repository with a commit, whose configuration runs a program. */
function plantRepository(directory: string): void {
  mkdirSync(directory, { recursive: true });
  git(directory, "init", "-q");
  git(directory, "commit", "-q", "--allow-empty", "-m", "x");
  const program = join(root, "monitor");
  writeFileSync(program, `#!/bin/sh\ntouch ${canary}\n`);
  chmodSync(program, 0o755);
  git(directory, "config", "core.fsmonitor", program);
}

beforeEach(() => {
  root = temporaryFolder("policy-submodules");
  canary = join(temporaryFolder("policy-canary"), "ran");
  git(root, "init", "-q");
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, "src/a.ts"), "a\n");
  git(root, "add", "src");
  git(root, "commit", "-q", "-m", "x");
});

async function decision(options: PolicyOptions, command: string): Promise<string> {
  const registry = new ToolRegistry([createRunBashTool({ cwd: root })]);
  registry.guard(createPolicy({ roots: root, home: join(root, "home"), ...options }).guard);
  const checked = await registry.check("run_bash", { command });
  if (checked.ok) return "allowed";
  return checked.error.code === "approval_required" ? "asked" : "denied";
}

async function all(options: PolicyOptions, expected: string, commands: readonly string[]): Promise<void> {
  for (const command of commands)
    expect(`${command}: ${await decision(options, command)}`).toBe(`${command}: ${expected}`);
}

const reading = [
  "git status",
  "git diff",
  "git diff HEAD --stat",
  "git describe --always --dirty",
  "cd src && git status",
];
const covering: PolicyOptions = { allow: ["run_bash(git *)"] };

describe("a submodule that came with the files", () => {
  test.each([2, 3, 4])("makes git ask in an index of version %i", async (version) => {
    plantRepository(join(root, "m"));
    await all({}, "allowed", reading);
    git(root, "-c", "advice.addEmbeddedRepo=false", "add", "m");
    if (version === 3) git(root, "add", "-N", "monitor");
    git(root, "update-index", "--index-version", String(version));
    execFileSync("git", ["status"], { cwd: root, stdio: "pipe" });
    expect(existsSync(canary)).toBe(true);
    await all({}, "asked", reading);
    await all({ mode: "read-only" }, "denied", reading);
    await all(covering, "asked", [...reading, "git commit -am x", "git stash"]);
  });

  test("is seen in the base of a split index", async () => {
    plantRepository(join(root, "m"));
    git(root, "-c", "advice.addEmbeddedRepo=false", "add", "m");
    git(root, "update-index", "--split-index");
    await all({}, "asked", reading);
  });

  test("may be one that the line itself makes", async () => {
    plantRepository(join(root, "m"));
    await all(covering, "asked", [
      "git add m && git status",
      "git add -A; git diff",
      "git add m && git status push",
      "git add m && git diff -- commit",
    ]);
    await all(covering, "allowed", ["git add src && git commit -m x", "git add -A"]);
    rmSync(join(root, "m"), { recursive: true });
    await all(covering, "allowed", ["git add -A && git status"]);
  });

  test("is not one whose repository lies in that of the root, until the line may put another in its place", async () => {
    const origin = temporaryFolder("policy-origin");
    git(origin, "init", "-q");
    git(origin, "commit", "-q", "--allow-empty", "-m", "x");
    git(root, "submodule", "--quiet", "add", origin, "m");
    await all({}, "allowed", reading);
    await all(covering, "allowed", ["git add src && git commit -m x"]);
    await all({ allow: ["run_bash(cp *)"] }, "asked", ["cp -r src m && git status"]);
    renameSync(join(root, "m"), join(root, "gone"));
    await all({}, "allowed", reading);
    plantRepository(join(root, "m"));
    await all({}, "asked", reading);
  });

  test("is not entered to show a commit, but where its changes are asked for", async () => {
    await all({}, "allowed", ["git log -p --submodule=log", "git show --submodule=short"]);
    await all({}, "asked", ["git log -p --submodule=diff", "git diff --submodule"]);
  });
});

describe("a folder that a commit makes a repository", () => {
  const lines = [
    "cd src && git checkout evil && git add -A",
    "cd src && git reset --hard evil && git commit -am x",
    "cd src && git pull && git add -A",
    "cd src && git stash pop; git fetch",
    "cd src && git init --bare && git fetch",
    "cd src && git -C . checkout evil && git add -A",
    "cd src && while git checkout evil; do :; done",
    "cd src && git mv a.ts HEAD && git add -A",
  ];

  test("runs what its files name, once git is at work in it", () => {
    const program = join(root, "monitor");
    writeFileSync(program, `#!/bin/sh\ntouch ${canary}\n`);
    chmodSync(program, 0o755);
    git(root, "checkout", "-q", "-b", "evil");
    mkdirSync(join(root, "src/objects"));
    mkdirSync(join(root, "src/refs"));
    writeFileSync(join(root, "src/HEAD"), "ref: refs/heads/main\n");
    writeFileSync(
      join(root, "src/config"),
      `[core]\n\trepositoryformatversion = 0\n\tworktree = ..\n\tfsmonitor = ${program}\n`,
    );
    for (const folder of ["objects", "refs"]) writeFileSync(join(root, "src", folder, "kept"), "");
    git(root, "add", "src");
    git(root, "commit", "-q", "-m", "x");
    git(root, "checkout", "-q", "-");
    const line = "cd src && git checkout -q evil && git add -A";
    execFileSync("sh", ["-c", line], { cwd: root, stdio: "pipe" });
    expect(existsSync(canary)).toBe(true);
  });

  test("is asked about below the top of the repository", async () => {
    await all(covering, "asked", lines);
    await all({ ...covering, mode: "accept-edits" }, "asked", lines);
  });

  test("is asked about where an option names it, also by an exact rule", async () => {
    const exact = ["git checkout evil", "git -C src add -A", "git -C src status", "git --git-dir src status"];
    const allow = exact.map((line) => `run_bash(${line})`);
    await all({ allow }, "allowed", ["git -C src status", "git -C src add -A", "git checkout evil"]);
    await all({ allow }, "asked", [
      "git checkout evil && git -C src add -A",
      "git checkout evil; git -C src status",
      "git --git-dir src status",
    ]);
    await all({ allow: ["run_bash(/usr/bin/git *)"] }, "asked", [
      "cd src && /usr/bin/git checkout evil && /usr/bin/git add -A",
    ]);
    plantRepository(join(root, "src/r"));
    await all({ allow: ["run_bash(/usr/bin/git -C src/r status)"] }, "asked", ["/usr/bin/git -C src/r status"]);
    await all({ allow: ["run_bash(git -C src/r status)"] }, "asked", [
      "git -C src/r status",
      "cd src && git -C r status",
    ]);
  });

  test("is not asked about at the top, or where git brings no files", async () => {
    await all(covering, "allowed", [
      ...lines.filter((line) => !/init|pull|fetch|-C/.test(line)).map((line) => line.slice("cd src && ".length)),
      "cd src && git add -A && git commit -m x && git push",
      "cd src && git checkout evil",
      "cd src && git status && git add -A",
      "cd src && git diff && git commit -am x",
      "git checkout main && git merge x",
      "git stash && git switch x && git stash pop",
    ]);
  });
});

describe("a remote that is not configured", () => {
  const transfers = ["git push origin main", "git fetch upstream", "git pull", "git ls-remote origin"];

  test("is asked about where a folder has its name", async () => {
    await all(covering, "allowed", transfers);
    mkdirSync(join(root, "origin"));
    mkdirSync(join(root, "upstream"));
    await all(covering, "asked", transfers);
    git(root, "remote", "add", "origin", "https://example.com/x.git");
    await all(covering, "allowed", ["git push origin main", "git pull", "git log origin"]);
    await all(covering, "asked", ["git fetch upstream"]);
  });

  test("is asked about where the line may make such a folder, and so is a clone of it", async () => {
    const allow = ["run_bash(git *)", "run_bash(cp *)"];
    await all({ allow }, "asked", [
      "cp -r src origin && git push origin",
      "git clone origin x",
      "git clone upstream x",
    ]);
    git(root, "remote", "add", "origin", "https://example.com/x.git");
    await all({ allow }, "allowed", ["cp -r src b && git push origin"]);
  });
});

describe("a file pattern", () => {
  test("is asked about where it meets a name that begins with a dash", async () => {
    const lines = ["wc *", "du *", "wc -l ?*", "wc [!a]*"];
    await all({}, "allowed", lines);
    writeFileSync(join(root, "--files0-from=list"), "");
    await all({}, "asked", lines);
    await all({ mode: "read-only" }, "denied", lines);
    await all({ allow: ["run_bash(prettier *)"] }, "asked", ["prettier *"]);
    await all({}, "allowed", ["wc -- *", "wc ./*", "wc src/*", "echo *", "wc [a-z]*"]);
  });

  test("is asked about where the line makes such a name", async () => {
    const allow = ["run_bash(touch *)"];
    await all({ allow }, "asked", ["touch ./--files0-from=list && wc *"]);
    await all({ allow }, "allowed", ["touch a && wc *"]);
  });
});

test("a denied file is seen behind letters that are joined, and where git writes what files say", async () => {
  writeFileSync(join(root, ".env"), "KEY\n");
  const options: PolicyOptions = { deny: ["effect:read(.env)"], allow: ["run_bash(git *)"] };
  for (const line of ["git commit -qF.env", "git commit -aF.env", "git tag -fF.env x"])
    expect(`${line}: ${await decision(options, line)}`).not.toBe(`${line}: allowed`);
  await all(options, "asked", ["git archive HEAD", "git format-patch -1 --stdout"]);
  await all({ allow: ["run_bash(git *)"] }, "allowed", ["git archive HEAD", "git format-patch -1"]);
});

test("an index is read again as soon as it says something else", async () => {
  plantRepository(join(root, "sub"));
  const id = execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" }).trim();
  vi.setSystemTime(Date.now() + 60_000);
  try {
    await all({}, "allowed", ["git status", "git status"]);
    git(root, "update-index", "--add", "--cacheinfo", `160000,${id},sub`);
    await all({}, "asked", ["git status", "git status"]);
    const index = join(root, ".git/index");
    const [bytes, { mtime }] = [readFileSync(index), statSync(index)];
    // As long as before, and of the same time. The next tick of the file system's clock tells.
    await delay(20);
    writeFileSync(index, Buffer.from(bytes.toString("latin1").replace("sub\0", "tub\0"), "latin1"));
    utimesSync(index, mtime, mtime);
    await all({}, "allowed", ["git status"]);
    await delay(20);
    writeFileSync(index, bytes);
    utimesSync(index, mtime, mtime);
    await all({}, "asked", ["git status"]);
  } finally {
    vi.useRealTimers();
  }
});

test("a folder that holds too much to look through may hold a submodule for the next command of the line", async () => {
  const line = "git checkout -q HEAD~1; git status";
  for (let at = 0; at < 1999; at += 1) mkdirSync(join(root, "src", String(at)));
  await all(covering, "allowed", [line]);
  mkdirSync(join(root, "src/x"));
  await all(covering, "asked", [line, "git add -A && git status"]);
  await all(covering, "allowed", ["git checkout -q HEAD~1", "git status"]);
});

test("a command that takes the index from a commit may bring a submodule for the next command of the line", async () => {
  const lines = [
    "git reset -q HEAD~1; git status",
    "git checkout HEAD~1 -- nest; git status",
    "git stash pop && git diff",
  ];
  await all(covering, "allowed", lines);
  plantRepository(join(root, "nest"));
  await all(covering, "asked", lines);
  await all(covering, "allowed", ["git reset -q HEAD~1", "git status"]);
});
