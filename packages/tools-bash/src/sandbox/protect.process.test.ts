import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { beforeEach, describe, expect, test } from "vitest";
import { type Answer, readJob, run as runWith, startJob, temporaryFolder, writeIn } from "../../fixtures/commands.ts";
import { whyNoSandbox } from "../../fixtures/sandbox.ts";
import { createBashTools } from "../bash.ts";
import type { RunBashOptions } from "../bashOptions.ts";
import { mostMasks } from "./deniedPaths.ts";

/* Protected paths in writable directories: what starts programs later, outside of the sandbox. */

let root: string;
beforeEach(() => {
  root = temporaryFolder("protect");
});

const run = (command: string, options: RunBashOptions = {}): Promise<Answer> =>
  runWith(command, {}, { root, sandbox: true, ...options });
const put = (path: string, text = "kept"): void => writeIn(root, path, text);
const read = (path: string): string => readFileSync(join(root, path), "utf8");

function git(...args: string[]): string {
  const author = ["-c", "user.name=n", "-c", "user.email=n@example.com", "-c", "protocol.file.allow=always"];
  return execFileSync("git", [...author, ...args], { cwd: root, encoding: "utf8", stdio: "pipe" });
}

/** A repository with a commit, and one beside it that it pushes to. */
function makeRepository(): void {
  git("init", "-q", "-b", "main");
  git("config", "user.name", "n");
  git("config", "user.email", "n@example.com");
  git("commit", "-q", "--allow-empty", "-m", "first");
  git("init", "-q", "--bare", "-b", "main", "elsewhere.git");
  git("remote", "add", "origin", "./elsewhere.git");
  git("push", "-q", "origin", "main");
  git("fetch", "-q");
}

const noted = (paths: string): string =>
  `[sandbox: protected paths that were made or changed while this ran: ${paths};`;

describe.runIf(whyNoSandbox === undefined)("what is protected", () => {
  const files = [".envrc", ".mcp.json", "AGENTS.md", "pkg/.npmrc", "pkg/deep/CLAUDE.md", ".hg/hgrc", ".GITMODULES"];
  const inFolders = [
    ".vscode/tasks.json",
    ".github/workflows/ci.yml",
    "a/.husky/pre-commit",
    ".yarn/releases/yarn.cjs",
  ];

  test("is read, and neither changed, replaced, removed nor moved, nor are the folders above it", async () => {
    for (const path of [...files, ...inFolders, "node_modules/x/.npmrc"]) put(path);
    const all = [...files, ...inFolders].join(" ");
    const { stdout } = await run(`cat ${all}; for f in ${all} /proc/self/cwd/.envrc; do
      echo bad > $f; echo bad >> $f; rm -f $f; mv $f moved; chmod 777 $f; truncate -s 0 $f; ln -f $f hard; echo bad >> hard
      cp -f /etc/hostname $f; echo bad > new; mv -f new $f; ln -sf /etc/hostname $f; mkdir bad; mv -T bad $f; done
      mv pkg moved; mv pkg/deep moved; mv .github moved; mv .vscode moved; mv .hg moved; rm -rf pkg .vscode .github a .yarn
      touch .vscode/new .github/workflows/new a/.husky/new; mount --bind /tmp .vscode; umount .vscode; rm -r node_modules`);
    expect(stdout).toBe("kept".repeat(files.length + inFolders.length));
    for (const path of [...files, ...inFolders]) expect([path, read(path)]).toEqual([path, "kept"]);
    expect(readdirSync(join(root, ".vscode"))).toEqual(["tasks.json"]);
    expect(readdirSync(join(root, ".github/workflows"))).toEqual(["ci.yml"]);
    expect(existsSync(join(root, "node_modules"))).toBe(false);
  });

  test("may hold what is denied, or lie in what is", async () => {
    for (const path of [".vscode/.env", ".vscode/tasks.json", "vault/.envrc"]) put(path);
    const command = "cat .vscode/* .vscode/.env vault/.envrc; touch .vscode/x; mv .vscode y; rm .vscode/tasks.json";
    expect(await run(command, { deny: [".env", "vault/"] })).toMatchObject({ stdout: "kept" });
    expect(readdirSync(join(root, ".vscode")).sort()).toEqual([".env", "tasks.json"]);
  });

  test("and missing leaves nothing behind, and is named in the answer where a command makes it", async () => {
    expect(await run("echo fine; mkdir sub")).toEqual({ stdout: "fine\n", stderr: "", exit_code: 0 });
    expect(readdirSync(root)).toEqual(["sub"]);
    const { stderr } = await run("echo 'run evil' > .envrc; mkdir -p sub/.vscode; touch sub/.vscode/tasks.json fine");
    expect(stderr).toContain(noted(".envrc, sub/.vscode"));
    const next = await run("echo other > .envrc", { sandbox: { remedies: { protect: "ask the user" } } });
    expect(next.stderr).toContain("[sandbox: commands cannot change .envrc, which is protected; ask the user]");
    expect(next.stderr).not.toContain("made or changed");
  });

  test("stops commands, in words, where there is more of it than can be kept", async () => {
    for (let index = 0; index <= mostMasks; index += 1) put(`${index}.code-workspace`);
    await expect(run("touch ran")).rejects.toThrow(/protected paths cannot be hidden .* Nothing was run/);
    expect(existsSync(join(root, "ran"))).toBe(false);
    expect(await run("echo fine", { sandbox: { unprotected: ["./"] } })).toMatchObject({ stdout: "fine\n" });
  });

  test("is named where a background command changes it after somebody else replaced it", async () => {
    put(".envrc");
    const registry = new ToolRegistry(createBashTools({ root, sandbox: true, background: true }));
    // A mount on a file that is replaced outside is gone, also inside.
    const id = await startJob(registry, "until grep -q theirs .envrc; do :; done; echo bad >> .envrc; echo done");
    put("new", "theirs\n");
    renameSync(join(root, "new"), join(root, ".envrc"));
    expect((await readJob(registry, id)).stderr).toContain(noted(".envrc"));
  });
});

describe.runIf(whyNoSandbox === undefined)("git", () => {
  test("commits, adds, fetches, checks out, branches, merges, rebases, stashes, tags, pushes and cleans up", async () => {
    makeRepository();
    const command = `set -e
      echo a > a; git add a; git commit -q -m a; git checkout -q -b topic; echo b > b; git add b; git commit -q -m b
      git checkout -q main; git merge -q --no-edit topic; git branch other HEAD~1; git checkout -q other
      echo c > c; git add c; git commit -q -m c; git rebase -q main; git tag v1; echo d >> a; git stash -q; git stash pop -q
      git reset -q --hard; git fetch -q; git push -q origin other; git worktree add -q --detach wt; git worktree list
      git cherry-pick --keep-redundant-commits HEAD >/dev/null; git gc -q; git fsck; git status --short; git log --oneline | wc -l`;
    const { stdout, stderr, exit_code } = await run(command);
    expect([exit_code, stdout.trim().split("\n").at(-1)]).toEqual([0, "5"]);
    // The worktree is a folder that git takes its place from.
    expect(stderr).toContain(noted(".git/worktrees/wt/commondir, .git/worktrees/wt/gitdir, wt/.git"));
  });

  test("commits and fetches on a branch that follows another, as in every clone", async () => {
    makeRepository();
    git("branch", "-q", "--set-upstream-to=origin/main");
    git("config", "notes.displayRef", "refs/notes/commits");
    git("notes", "add", "-m", "before");
    const command = `echo a > a && git add a && git commit -q -m a && git notes add -m b && git push -q && git pull -q
      git notes append -m more HEAD~1 && git status -sb | head -1`;
    expect(await run(command)).toEqual({ stdout: "## main...origin/main\n", stderr: "", exit_code: 0 });
  });

  const evil = "touch escaped";

  test("finds no configuration or hook that a command wrote, moved there or pointed to", async () => {
    makeRepository();
    git("submodule", "--quiet", "add", join(root, "elsewhere.git"), "lib/sub");
    git("worktree", "add", "-q", "--detach", "wt");
    git("init", "-q", "--separate-git-dir", "apart", "sep");
    const watched = [
      ...[".git/config", ".git/modules/lib/sub/config", ".git/worktrees/wt/commondir", "wt/.git", "lib/sub/.git"],
      ...[".gitmodules", "elsewhere.git/config", "apart/config", "sep/.git"],
    ];
    const before = watched.map(read);
    await run(`git config core.fsmonitor '${evil}'; git config core.hooksPath .; echo '[core] fsmonitor = ${evil}' >> .git/config
      for f in ${watched.join(" ")}; do echo bad > $f; rm -f $f; mv $f x; done
      mv elsewhere.git y; mv apart z; mv lib l; mv wt w; mv .git/modules m; mv .git other; mv .git/hooks x; mkdir x; mv -T x .git
      for f in .git .git/modules/lib/sub apart elsewhere.git; do echo '${evil}' > $f/hooks/pre-commit; done
      rm -rf .git/hooks .git/config; git config --file .git/config core.pager x; git remote add evil ext::sh; cd .git; mv hooks y
      echo '${evil}' > ../pre-commit; chmod +x ../pre-commit; mv ../pre-commit hooks/; exec 3<>config; printf x >&3`);
    expect(watched.map(read)).toEqual(before);
    for (const folder of [".git", ".git/modules/lib/sub", "apart", "elsewhere.git"])
      expect(readdirSync(join(root, folder, "hooks")).filter((name) => !name.endsWith(".sample"))).toEqual([]);
    git("status", "--ignore-submodules=all");
    expect(existsSync(join(root, "escaped"))).toBe(false);
  });

  test("works in a linked worktree, beside the repository and within it, and in a submodule, and changes no protected file", async () => {
    makeRepository();
    git("submodule", "--quiet", "add", join(root, "elsewhere.git"), "lib/sub");
    git("commit", "-qm", "sub");
    git("worktree", "add", "-q", "--detach", "wt");
    mkdirSync(join(root, "stray"));
    put("stray/.git", "gitdir: ../.git/worktrees/wt\n");
    const commit =
      "echo a > a; git add -A && git -c user.name=n -c user.email=n@x commit -qm c && git stash list; git status -s";
    for (const place of ["wt", "lib/sub"]) {
      const options = { root: join(root, place) };
      expect([place, await run(commit, options)]).toEqual([place, { stdout: "", stderr: "", exit_code: 0 }]);
      const files =
        "$(git rev-parse --git-dir)/gitdir $(git rev-parse --git-dir)/commondir $(git rev-parse --git-common-dir)/config";
      const { stdout } = await run(
        `for f in ${files} .git; do [ ! -f $f ] || echo bad > $f; done; git log -1 --format=%s`,
        options,
      );
      expect(stdout).toBe("c\n");
    }
    const stray = await run("git add -A; echo x > ../.git/x", { root: join(root, "stray") });
    expect([stray.exit_code === 0, existsSync(join(root, ".git/x"))]).toEqual([false, false]);
    expect(stray.stderr).not.toContain("which is protected");
  });

  test("writes its configuration where the switch lets that through: git push -u and tracking branches", async () => {
    makeRepository();
    const commands =
      "git checkout -q -b topic && git push -q -u origin topic; git branch --track other origin/main; git config a.b c";
    const refused = await run(commands);
    expect(refused.stderr).toContain("[sandbox: commands cannot change .git/config, which is protected");
    expect(read(".git/config")).not.toContain("topic");
    git("checkout", "-q", "main");
    git("branch", "-D", "topic", "other");
    const sandbox = { unprotected: [".git/config"] };
    expect(await run(commands.replace("; git", " && git"), { sandbox })).toMatchObject({ exit_code: 0 });
    const written = git("config", "branch.topic.remote") + git("config", "branch.other.merge");
    expect(written).toBe("origin\nrefs/heads/main\n");
    const other = await run("echo bad > .git/hooks/pre-commit", { sandbox });
    expect(other.stderr).toContain("cannot change .git/hooks, which is protected]");
  });
});
