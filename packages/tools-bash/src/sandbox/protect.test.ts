import { execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createBashTools } from "../bash.ts";
import { sandboxProblem } from "../bashOptions.ts";
import { createRunBashTool } from "../runBash.ts";
import { mostMasks } from "./deniedPaths.ts";
import { findProtected } from "./protectedPaths.ts";
import type { SandboxOptions } from "./sandbox.ts";

/* Protected paths in writable directories: what starts programs later, outside of the sandbox. */

const sandboxed = test.runIf((await sandboxProblem({ cwd: import.meta.dirname })) === undefined);
let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "toolcrib-protect-")));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

interface Answer {
  stdout: string;
  stderr: string;
  exit_code: number;
}

type Run = (command: string) => Promise<Answer>;

function toolWith(sandbox: SandboxOptions = {}, given = root): Run {
  const tool = createRunBashTool({ root: given, sandbox });
  return async (command) => JSON.parse(await tool.execute({ command })) as Answer;
}

const run: Run = (command) => toolWith()(command);

function put(path: string, text = "kept"): string {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  return path;
}

const read = (path: string): string => readFileSync(join(root, path), "utf8");

function git(...args: string[]): string {
  const author = ["-c", "user.name=n", "-c", "user.email=n@example.com"];
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

describe("what is protected", () => {
  const files = [".envrc", ".mcp.json", "AGENTS.md", "pkg/.npmrc", "pkg/deep/CLAUDE.md", ".hg/hgrc", ".GITMODULES"];
  const inFolders = [
    ".vscode/tasks.json",
    ".github/workflows/ci.yml",
    "a/.husky/pre-commit",
    ".yarn/releases/yarn.cjs",
  ];

  sandboxed("is read, and neither changed, replaced, removed nor moved, nor are the folders above it", async () => {
    for (const path of [...files, ...inFolders]) put(path);
    const all = [...files, ...inFolders].join(" ");
    const { stdout } = await run(`cat ${all}; for f in ${all}; do
      echo bad > $f; echo bad >> $f; rm -f $f; mv $f moved; chmod 777 $f; truncate -s 0 $f; ln -f $f hard; echo bad >> hard
      cp -f /etc/hostname $f; echo bad > new; mv -f new $f; ln -sf /etc/hostname $f; mkdir bad; mv -T bad $f; done
      mv pkg moved; mv pkg/deep moved; mv .github moved; mv .vscode moved; mv .hg moved; rm -rf pkg .vscode .github a .yarn
      touch .vscode/new .github/workflows/new a/.husky/new; mount --bind /tmp .vscode; umount .vscode`);
    expect(stdout).toBe("kept".repeat(files.length + inFolders.length));
    for (const path of [...files, ...inFolders]) expect([path, read(path)]).toEqual([path, "kept"]);
    expect(readdirSync(join(root, ".vscode"))).toEqual(["tasks.json"]);
    expect(readdirSync(join(root, ".github/workflows"))).toEqual(["ci.yml"]);
  });

  sandboxed("leaves the rest of the folders around it and installed packages to commands", async () => {
    for (const path of ["node_modules/x/.npmrc", ".yarn/install-state.gz", ".hg/store", ".pnp.cjs", "pkg/.npmrc"])
      put(path);
    const command =
      "rm -r node_modules && echo new > .yarn/install-state.gz && echo new > .hg/store && mv .pnp.cjs pkg/x && ls pkg";
    expect(await run(command)).toEqual({ stdout: "x\n", stderr: "", exit_code: 0 });
  });

  sandboxed("is kept in each writable directory and nowhere else, by whatever path it is reached", async () => {
    put("one/.envrc");
    put("two/.envrc");
    put("two/inner/.envrc");
    const sandbox = { writable: [join(root, "one"), join(root, "two"), join(root, "two/inner")] };
    await toolWith(sandbox)(
      "for f in one two two/inner; do echo bad > $f/.envrc; echo bad > /proc/self/cwd/$f/.envrc; done",
    );
    for (const path of ["one/.envrc", "two/.envrc", "two/inner/.envrc"]) expect(read(path)).toBe("kept");
  });

  sandboxed("may hold what is denied, or lie in what is", async () => {
    for (const path of [".vscode/.env", ".vscode/tasks.json", "vault/.envrc"]) put(path);
    const tool = createRunBashTool({ root, sandbox: true, deny: [".env", "vault/"] });
    const command = "cat .vscode/* .vscode/.env vault/.envrc; touch .vscode/x; mv .vscode y; rm .vscode/tasks.json";
    expect(JSON.parse(await tool.execute({ command }))).toMatchObject({ stdout: "kept" });
    expect(readdirSync(join(root, ".vscode")).sort()).toEqual([".env", "tasks.json"]);
  });

  sandboxed("is kept through a link as well: what the link leads to", async () => {
    put("tools/hooks/pre-commit");
    put("docs/agents.md");
    git("init", "-q");
    rmSync(join(root, ".git/hooks"), { recursive: true });
    symlinkSync("../tools/hooks", join(root, ".git/hooks"));
    symlinkSync("docs/agents.md", join(root, "AGENTS.md"));
    symlinkSync("nowhere", join(root, "CLAUDE.md"));
    symlinkSync(".", join(root, ".claude"));
    await run(
      "echo bad > AGENTS.md; for f in tools/hooks/* docs/agents.md; do echo bad > $f; mv $f x; done; mv tools moved; mv docs moved",
    );
    expect([read("tools/hooks/pre-commit"), read("AGENTS.md")]).toEqual(["kept", "kept"]);
    // The link itself cannot be kept, so that is said.
    const { stderr } = await run("rm AGENTS.md; echo bad > AGENTS.md; ln -sfn /etc .git/hooks");
    expect(stderr).toContain(noted(".git/hooks, AGENTS.md"));
  });

  sandboxed("and missing leaves nothing behind, and is named in the answer where a command makes it", async () => {
    expect(await run("echo fine; mkdir sub")).toEqual({ stdout: "fine\n", stderr: "", exit_code: 0 });
    expect(readdirSync(root)).toEqual(["sub"]);
    const { stderr } = await run("echo 'run evil' > .envrc; mkdir -p sub/.vscode; touch sub/.vscode/tasks.json fine");
    expect(stderr).toContain(noted(".envrc, sub/.vscode"));
    const next = await run("echo other > .envrc");
    expect(next.stderr).toContain("[sandbox: commands cannot change .envrc, which is protected]");
    expect(next.stderr).not.toContain("made or changed");
  });

  sandboxed("stops commands, in words, where there is more of it than can be looked at or kept", async () => {
    for (let index = 0; index <= mostMasks; index += 1) put(`${index}.code-workspace`);
    await expect(findProtected([root], [], new Set(), mostMasks)).rejects.toThrow(
      /more than 500 files .*sandbox\.unprotected/,
    );
    await expect(run("touch ran")).rejects.toThrow(/protected paths cannot be hidden .* Nothing was run/);
    expect(existsSync(join(root, "ran"))).toBe(false);
    const many = toolWith({ unprotected: ["./1*"], remedies: { protect: "ask the user" } });
    expect(await many("echo fine")).toMatchObject({ stdout: "fine\n" });
  });

  sandboxed("is named where it has another name, a hard link, by which a command changed it", async () => {
    put(".envrc");
    linkSync(join(root, ".envrc"), join(root, "other"));
    expect((await run("echo bad > other")).stderr).toContain(noted(".envrc"));
    expect((await run("true")).stderr).toBe("");
  });

  sandboxed("is named after a command that was aborted by the next one's answer", async () => {
    const tool = createRunBashTool({ root, sandbox: true });
    const abort = new AbortController();
    const command = "touch .envrc; echo made; sleep 60";
    const call = tool.execute({ command }, { signal: abort.signal, onProgress: () => abort.abort() });
    await expect(call).rejects.toMatchObject({ code: "aborted" });
    const next = async (): Promise<string> => (JSON.parse(await tool.execute({ command: "true" })) as Answer).stderr;
    expect(await next()).toContain(noted(".envrc"));
    expect(await next()).toBe("");
  });

  sandboxed("is named where a background command changes it after somebody else replaced it", async () => {
    put(".envrc");
    const [start, readOutput] = createBashTools({ root, sandbox: true, background: true });
    // A mount on a file that is replaced outside is gone, also inside.
    const command = "until grep -q theirs .envrc; do :; done; echo bad >> .envrc; echo done";
    const { id } = JSON.parse(String(await start?.execute({ command, background: true }))) as { id: string };
    put("new", "theirs\n");
    renameSync(join(root, "new"), join(root, ".envrc"));
    const end = JSON.parse(String(await readOutput?.execute({ id, wait: 60_000 }))) as Answer;
    expect(end.stderr).toContain(noted(".envrc"));
  });
});

describe("git", () => {
  sandboxed(
    "commits, adds, fetches, checks out, branches, merges, rebases, stashes, tags, pushes and cleans up",
    async () => {
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
      expect(stderr).toContain(noted(".git/worktrees/wt/commondir, wt/.git"));
    },
  );

  sandboxed("commits and fetches on a branch that follows another, as in every clone", async () => {
    makeRepository();
    git("branch", "-q", "--set-upstream-to=origin/main");
    git("config", "notes.displayRef", "refs/notes/commits");
    git("notes", "add", "-m", "before");
    const command = `echo a > a && git add a && git commit -q -m a && git notes add -m b && git push -q && git pull -q
      git notes append -m more HEAD~1 && git status -sb | head -1`;
    expect(await run(command)).toEqual({ stdout: "## main...origin/main\n", stderr: "", exit_code: 0 });
  });

  const evil = "touch escaped";

  sandboxed("finds no configuration or hook that a command wrote, moved there or pointed to", async () => {
    makeRepository();
    const before = read(".git/config");
    await run(`git config core.fsmonitor '${evil}'; git config core.hooksPath .; echo '[core] fsmonitor = ${evil}' >> .git/config
      mv .git other; mv .git/hooks x; mkdir x; cp .git/config x; mv -T x .git; echo '${evil}' > .git/hooks/pre-commit
      rm -rf .git/hooks .git/config; git config --file .git/config core.pager x; git remote add evil ext::sh; cd .git; mv hooks y
      echo '${evil}' > ../pre-commit; chmod +x ../pre-commit; mv ../pre-commit hooks/; exec 3<>config; printf x >&3`);
    expect(read(".git/config")).toBe(before);
    expect(readdirSync(join(root, ".git/hooks")).filter((name) => !name.endsWith(".sample"))).toEqual([]);
    git("status");
    expect(existsSync(join(root, "escaped"))).toBe(false);
  });

  sandboxed("is kept in submodules, worktrees, folders of other names and files that are called .git", async () => {
    makeRepository();
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", join(root, "elsewhere.git"), "lib/sub");
    git("worktree", "add", "-q", "--detach", "wt");
    git("init", "-q", "--separate-git-dir", "apart", "sep");
    const watched = [
      ".git/modules/lib/sub/config",
      ".git/worktrees/wt/commondir",
      "wt/.git",
      "lib/sub/.git",
      ".gitmodules",
    ];
    watched.push("elsewhere.git/config", "apart/config", "sep/.git");
    const before = watched.map(read);
    await run(`for f in ${watched.join(" ")}; do echo bad > $f; rm -f $f; mv $f x; done; mv elsewhere.git y; mv apart z; mv lib l
      mv wt w; mv .git/modules m; touch .git/modules/lib/sub/hooks/pre-commit apart/hooks/pre-commit elsewhere.git/hooks/update`);
    expect(watched.map(read)).toEqual(before);
    for (const folder of [
      ".git/modules/lib/sub/hooks/pre-commit",
      "apart/hooks/pre-commit",
      "elsewhere.git/hooks/update",
    ])
      expect(existsSync(join(root, folder))).toBe(false);
    const made = await run(
      "git -C lib/sub commit -q --allow-empty -m x 2>&1; git init -q new; mkdir bare; cd bare; git init -q --bare",
    );
    expect(made.stderr).toMatch(/new\/\.git\/config.*/);
    expect(made.stderr).toContain("bare/config");
  });

  sandboxed(
    "is not pointed to another folder by a file that a command makes, without its name in the answer",
    async () => {
      makeRepository();
      const { stderr } = await run("echo ../elsewhere.git > .git/commondir; printf '[core]\\n' > .git/config.worktree");
      expect(stderr).toContain(noted(".git/commondir, .git/config.worktree"));
    },
  );

  sandboxed("runs what its configuration names, and reads what that includes: these are kept", async () => {
    makeRepository();
    for (const path of [
      "ci/hooks/pre-commit",
      "ci/shared.gitconfig",
      "ci/monitor.sh",
      "ci/merge.sh",
      "ci/more/x",
      "ci/free",
    ])
      put(path);
    put("ci/shared.gitconfig", '[merge "x"]\n  driver = sh ./ci/merge.sh %O\n[include]\n path = missing');
    git("config", "core.hooksPath", "ci/hooks");
    git("config", "core.fsmonitor", "./ci/monitor.sh");
    git("config", "includeIf.onbranch:x.path", "../ci/shared.gitconfig");
    await run(
      "for f in ci/hooks/pre-commit ci/shared.gitconfig ci/monitor.sh ci/merge.sh ci/free; do echo bad > $f; done; mv ci c",
    );
    const kept = ["ci/hooks/pre-commit", "ci/monitor.sh", "ci/merge.sh"].map(read);
    expect([kept, read("ci/free")]).toEqual([["kept", "kept", "kept"], "bad\n"]);
    expect(read("ci/shared.gitconfig")).toContain("driver");
  });

  sandboxed(
    "keeps what its configuration names in a worktree or a folder of it, where the rest lies outside",
    async () => {
      makeRepository();
      git("worktree", "add", "-q", "--detach", "wt");
      git("config", "core.hooksPath", "ci/hooks");
      git("config", "core.fsmonitor", "sub/monitor.sh");
      for (const path of ["wt/ci/hooks/pre-commit", "sub/monitor.sh", "sub/free"]) put(path);
      await toolWith({}, join(root, "wt"))("echo bad > ci/hooks/pre-commit");
      await toolWith({}, join(root, "sub"))("echo bad > monitor.sh; echo new > free");
      expect([read("wt/ci/hooks/pre-commit"), read("sub/monitor.sh"), read("sub/free")]).toEqual([
        "kept",
        "kept",
        "new\n",
      ]);
    },
  );

  sandboxed("is kept where .git is a link to its folder, and commits there", async () => {
    makeRepository();
    renameSync(join(root, ".git"), join(root, "real"));
    symlinkSync("real", join(root, ".git"));
    const command =
      "echo bad > .git/hooks/x; git config a.b c; echo bad >> real/config; mv real y; git commit --allow-empty -qm x";
    expect(await run(command)).toMatchObject({ exit_code: 0 });
    expect([read("real/config").includes("bad"), git("log", "--format=%s")]).toEqual([false, "x\nfirst\n"]);
    expect((await run("rm .git; git init -q .")).stderr).toContain("made or changed while this ran: .git, ");
  });

  sandboxed("stays a repository for the next command, whatever one takes out of it", async () => {
    makeRepository();
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", join(root, "elsewhere.git"), "sub");
    git("worktree", "add", "-q", "--detach", "wt");
    renameSync(join(root, "elsewhere.git"), join(root, ".bare"));
    const folders = [".bare", ".git/modules/sub", ".git/worktrees/wt"];
    const before = [".bare/config", ".git/modules/sub/config", ".git/worktrees/wt/commondir"].map(read);
    const write = `git config --file config core.fsmonitor '${evil}'; echo bad > commondir; mkdir -p hooks; echo bad > hooks/pre-push`;
    const tool = toolWith();
    for (const parts of ["HEAD", "objects", "refs", "HEAD objects refs"]) {
      const take = `mkdir away; mv ${parts} away`;
      const giveBack = "mv away/* .; rmdir away";
      for (const command of [take, write, giveBack])
        await tool(folders.map((folder) => `(cd ${folder}; ${command})`).join("; "));
      if (parts.includes(" ")) continue;
      // A tool that is made meanwhile recognises it by what is left.
      await tool(`cd .bare; ${take}`);
      await run(`cd .bare; ${write}`);
      await tool(`cd .bare; ${giveBack}`);
    }
    expect([".bare/config", ".git/modules/sub/config", ".git/worktrees/wt/commondir"].map(read)).toEqual(before);
    for (const folder of [".bare", ".git/modules/sub"])
      expect(existsSync(join(root, folder, "hooks/pre-push"))).toBe(false);
  });

  sandboxed("is named where a command makes the common folder of another", async () => {
    const { stderr } =
      await run(`mkdir -p b cm/objects cm/refs; echo ../cm > b/commondir; echo ref: refs/heads/main > b/HEAD
      echo '[core] fsmonitor = ${evil}' > cm/config`);
    expect(stderr).toContain(noted("b/commondir, cm/config"));
  });

  sandboxed("is named where a command leaves a rebase that runs programs when the user goes on", async () => {
    makeRepository();
    git("commit", "-q", "--allow-empty", "-m", "second");
    const stop = "GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -q -i --keep-empty HEAD~1";
    expect((await run(stop)).stderr).not.toContain("sandbox");
    const list = ".git/rebase-merge/git-rebase-todo";
    expect((await run(`echo 'exec ${evil}' >> ${list}`)).stderr).toContain(noted(list));
    const behindMuch = `yes '#' | head -c 1000000 > x; echo 'exec ${evil}' >> x`;
    expect((await run(`${behindMuch}; mv x ${list}`)).stderr).toContain(noted(list));
    expect((await run(`${behindMuch}; ln -sf ../../x ${list}`)).stderr).toContain(noted(list));
    expect((await run("git rebase --abort")).exit_code).toBe(0);
  });

  sandboxed("is not hidden behind others that a command makes with it", async () => {
    makeRepository();
    const { stderr } = await run(`for i in $(seq 10 40); do mkdir 0$i; touch 0$i/.envrc; done; git init -q zz
      echo ../zz > .git/commondir`);
    expect(stderr).toContain(noted(".git/commondir, zz/.git/config, zz/.git/hooks").slice(0, -1));
    expect(stderr).toContain(" and 9 more;");
  });

  sandboxed("does not take a folder for one that only has parts of such names", async () => {
    for (const path of ["src/config/x", "src/hooks/x", "src/objects/x", "head/config"]) put(path);
    const command = "for f in src/config/x src/hooks/x src/objects/x head/config; do echo new > $f; done";
    expect(await run(command)).toMatchObject({ stderr: "", exit_code: 0 });
  });

  sandboxed("does not wait for a named pipe in the place of a file", async () => {
    makeRepository();
    mkdirSync(join(root, "sub/.git"), { recursive: true });
    execFileSync("mkfifo", [join(root, "sub/.git/config"), join(root, ".envrc")]);
    expect((await run("echo fine")).stdout).toBe("fine\n");
  });
});

describe("the switch", () => {
  sandboxed("lets one path through: git push -u and tracking branches write .git/config", async () => {
    makeRepository();
    const commands =
      "git checkout -q -b topic && git push -q -u origin topic; git branch --track other origin/main; git config a.b c";
    const refused = await run(commands);
    expect(refused.stderr).toContain("[sandbox: commands cannot change .git/config, which is protected");
    expect(read(".git/config")).not.toContain("topic");
    git("checkout", "-q", "main");
    git("branch", "-D", "topic", "other");
    const remedies = { protect: "ask the user" };
    const open = toolWith({ unprotected: [".git/config"], remedies });
    expect(await open(commands.replace("; git", " && git"))).toMatchObject({ exit_code: 0 });
    expect(git("config", "branch.topic.remote") + git("config", "branch.other.merge")).toBe(
      "origin\nrefs/heads/main\n",
    );
    const other = await open("echo bad > .git/hooks/pre-commit");
    expect(other.stderr).toContain("cannot change .git/hooks, which is protected; ask the user]");
  });

  sandboxed("lets folders through with all that is in them, and a root", async () => {
    for (const path of ["vendor/a/.npmrc", "vendor/a/.git/config", ".npmrc", "x/.npmrc"]) put(path);
    await toolWith({ unprotected: ["./vendor/"] })("rm -r vendor; echo bad > .npmrc");
    expect([existsSync(join(root, "vendor")), read(".npmrc")]).toEqual([false, "kept"]);
    expect(await toolWith({ unprotected: ["./"] })("rm -r x .npmrc")).toMatchObject({ exit_code: 0, stderr: "" });
  });

  test("is part of what a question shows, and is checked when the tool is made", async () => {
    const confinement = async (sandbox: SandboxOptions): Promise<string | undefined> =>
      (await createRunBashTool({ root, sandbox }).effects?.({ command: "true" }))?.[0]?.confinement;
    expect(await confinement({ unprotected: [".git/config"] })).toContain('; unprotected [".git/config"]');
    expect(await confinement({})).not.toContain("unprotected");
    for (const unprotected of [undefined, ".git", [""], ["!x"], [1]])
      expect(() => createRunBashTool({ root, sandbox: { unprotected } as SandboxOptions })).toThrow(TypeError);
  });
});

describe("a home", () => {
  sandboxed(
    "that is a root keeps its own settings, and a root below a protected place is the user's choice",
    async () => {
      const home = process.env.HOME;
      process.env.HOME = root;
      try {
        for (const path of [".config/app/x", ".bashrc", ".ssh/config", "bin/tool"]) put(path);
        await run(
          "for f in .config/app/x .bashrc .ssh/config bin/tool; do echo bad > $f; done; mv .config c; mv bin b",
        );
        for (const path of [".config/app/x", ".bashrc", ".ssh/config", "bin/tool"]) expect(read(path)).toBe("kept");
        expect(await toolWith({}, join(root, ".config/app"))("echo new > x && echo more > y")).toMatchObject({
          exit_code: 0,
        });
      } finally {
        process.env.HOME = home;
      }
    },
  );
});
