import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, cpSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sharedFolder, temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { linesOf } from "../../../../testing/shell/corpora.ts";
import { judgeLine } from "../../../../testing/shell/judgeLine.ts";
import { createPolicy, type PolicyOptions } from "../index.ts";

let root: string;
let canary: string;

function git(directory: string, ...args: string[]): void {
  const settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"];
  execFileSync("git", [...settings, ...args], { cwd: directory, stdio: "pipe" });
}

/** A repository with a commit, whose configuration runs a program. */
function plantRepository(directory: string): void {
  cpSync(join(template, "empty"), directory, { recursive: true });
  const program = join(root, "monitor");
  writeFileSync(program, `#!/bin/sh\ntouch ${canary}\n`);
  chmodSync(program, 0o755);
  appendFileSync(join(directory, ".git/config"), `[core]\n\tfsmonitor = ${program}\n`);
}

const template = sharedFolder("policy-template");

beforeAll(() => {
  for (const name of ["root", "empty"]) git(template, "init", "-q", name);
  mkdirSync(join(template, "root/src"));
  writeFileSync(join(template, "root/src/a.ts"), "a\n");
  git(join(template, "root"), "add", "src");
  for (const name of ["root", "empty"]) git(join(template, name), "commit", "-q", "--allow-empty", "-m", "x");
});

beforeEach(() => {
  root = temporaryFolder("policy-submodules");
  canary = join(temporaryFolder("policy-canary"), "ran");
  cpSync(join(template, "root"), root, { recursive: true, preserveTimestamps: true });
});

async function decisions(options: PolicyOptions, commands: readonly string[]): Promise<Record<string, string>> {
  const policy = createPolicy({ roots: root, home: join(root, "home"), ...options });
  const found: Record<string, string> = {};
  for (const command of commands) found[command] = (await judgeLine(policy, command, root)).decision;
  return found;
}

async function all(options: PolicyOptions, expected: string, commands: readonly string[]): Promise<void> {
  const wanted = Object.fromEntries(commands.map((command) => [command, expected]));
  expect(await decisions(options, commands)).toEqual(wanted);
}

const reading = linesOf("unsafeSubmodules", "read the repository");
const covering: PolicyOptions = { allow: ["run_bash(git *)"] };

describe("a submodule", () => {
  test("that is a repository of its own is asked about", async () => {
    await all({}, "allow", reading);
    plantRepository(join(root, "m"));
    git(root, "-c", "advice.addEmbeddedRepo=false", "add", "m");
    writeFileSync(join(root, ".gitmodules"), '[submodule "m"]\n\tpath = m\n\turl = ./m\n');
    execFileSync("git", ["status"], { cwd: root, stdio: "pipe" });
    expect(existsSync(canary)).toBe(true);
    await all({}, "ask", reading);
    await all({ mode: "read-only" }, "deny", reading);
    await all(covering, "ask", [...reading, "git commit -am x", "git stash"]);
  });

  test("is not, if its repository lies in that of the root", async () => {
    const origin = temporaryFolder("policy-origin");
    cpSync(join(template, "empty"), origin, { recursive: true });
    git(root, "submodule", "--quiet", "add", origin, "m");
    await all({}, "allow", reading);
    await all(covering, "allow", ["git add src && git commit -m x"]);
    renameSync(join(root, "m"), join(root, "gone"));
    await all({}, "allow", reading);
    plantRepository(join(root, "m"));
    await all({}, "ask", reading);
  });

  test("is not entered to show a commit, but where its changes are asked for", async () => {
    await all({}, "allow", ["git log -p --submodule=log", "git show --submodule=short"]);
    await all({}, "ask", ["git log -p --submodule=diff", "git diff --submodule"]);
  });
});

describe("a folder that a commit makes a repository", () => {
  const lines = linesOf("unsafeSubmodules", "check out, and work in the folder");

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
    await all(covering, "ask", lines);
    await all({ ...covering, mode: "accept-edits" }, "ask", lines);
  });

  test("is asked about where an option names it, also by an exact rule", async () => {
    const exact = ["git checkout evil", "git -C src add -A", "git -C src status", "git --git-dir src status"];
    const allow = exact.map((line) => `run_bash(${line})`);
    await all({ allow }, "allow", ["git -C src status", "git -C src add -A", "git checkout evil"]);
    await all({ allow }, "ask", [
      "git checkout evil && git -C src add -A",
      "git checkout evil; git -C src status",
      "git --git-dir src status",
    ]);
    await all({ allow: ["run_bash(/usr/bin/git *)"] }, "ask", [
      "cd src && /usr/bin/git checkout evil && /usr/bin/git add -A",
    ]);
    plantRepository(join(root, "src/r"));
    await all({ allow: ["run_bash(/usr/bin/git -C src/r status)"] }, "ask", ["/usr/bin/git -C src/r status"]);
    await all({ allow: ["run_bash(git -C src/r status)"] }, "ask", [
      "git -C src/r status",
      "cd src && git -C r status",
    ]);
  });

  test("is not asked about at the top, or where git brings no files", async () => {
    await all(covering, "allow", [
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
    await all(covering, "allow", transfers);
    mkdirSync(join(root, "origin"));
    mkdirSync(join(root, "upstream"));
    await all(covering, "ask", transfers);
    git(root, "remote", "add", "origin", "https://example.com/x.git");
    await all(covering, "allow", ["git push origin main", "git pull", "git log origin"]);
    await all(covering, "ask", ["git fetch upstream"]);
  });

  test("is asked about where the line may make such a folder, and so is a clone of it", async () => {
    const allow = ["run_bash(git *)", "run_bash(cp *)"];
    await all({ allow }, "ask", ["cp -r src origin && git push origin", "git clone origin x", "git clone upstream x"]);
    git(root, "remote", "add", "origin", "https://example.com/x.git");
    await all({ allow }, "allow", ["cp -r src b && git push origin"]);
  });
});

describe("a file pattern", () => {
  test("is asked about where it meets a name that begins with a dash", async () => {
    const lines = ["wc *", "du *", "wc -l ?*", "wc [!a]*"];
    await all({}, "allow", lines);
    writeFileSync(join(root, "--files0-from=list"), "");
    await all({}, "ask", lines);
    await all({ mode: "read-only" }, "deny", lines);
    await all({ allow: ["run_bash(prettier *)"] }, "ask", ["prettier *"]);
    await all({}, "allow", ["wc -- *", "wc ./*", "wc src/*", "echo *", "wc [a-z]*"]);
  });
});

test("a denied file is seen behind letters that are joined, and where git writes what files say", async () => {
  writeFileSync(join(root, ".env"), "KEY\n");
  const options: PolicyOptions = { deny: ["effect:read(.env)"], allow: ["run_bash(git *)"] };
  const lines = ["git commit -qF.env", "git commit -aF.env", "git tag -fF.env x"];
  expect(Object.values(await decisions(options, lines))).not.toContain("allow");
  await all(options, "ask", ["git archive HEAD", "git format-patch -1 --stdout"]);
  await all({ allow: ["run_bash(git *)"] }, "allow", ["git archive HEAD", "git format-patch -1"]);
});
