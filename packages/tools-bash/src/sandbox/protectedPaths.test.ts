import { execFileSync } from "node:child_process";
import { appendFileSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { findProgram, isInside } from "@toolcrib/kit/files";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { temporaryFolder, writeIn } from "../../fixtures/commands.ts";
import { createRunBashTool } from "../runBash.ts";
import type { BytePath } from "./bytePath.ts";
import { createProtectedWatch, findProtected } from "./protectedPaths.ts";
import type { SandboxOptions } from "./sandbox.ts";

/* Protected paths found in writable directories. `protect.process.test.ts` has that the sandbox keeps it. */

const withGit = describe.runIf(findProgram("git") !== undefined);
let root: string;
let repositories: Set<BytePath>;

beforeEach(() => {
  root = temporaryFolder("protected");
  repositories = new Set();
  return () => vi.unstubAllEnvs();
});

const put = (path: string, text = "kept"): void => writeIn(root, path, text);

function git(...args: string[]): string {
  const author = ["-c", "user.name=n", "-c", "user.email=n@example.com", "-c", "protocol.file.allow=always"];
  return execFileSync("git", [...author, ...args], { cwd: root, encoding: "utf8", stdio: "pipe" });
}

/** A repository with a commit, and a bare one beside it. */
function makeRepository(): void {
  git("init", "-q", "-b", "main");
  git("commit", "-q", "--allow-empty", "-m", "first");
  git("clone", "-q", "--bare", ".", "elsewhere.git");
}

/** Returns those of these paths that are protected, by themselves or with a folder above them. */
async function keptOf(
  paths: readonly string[],
  unprotected: readonly string[] = [],
  writable: readonly string[] = [root],
): Promise<string[]> {
  const { kept } = await findProtected(writable, unprotected, repositories);
  return paths.filter((path) => kept.some((place) => isInside(place, join(root, path))));
}

/** The changes that are reported. */
async function changesOf(change: () => void): Promise<string[]> {
  const find = (): ReturnType<typeof findProtected> => findProtected([root], [], repositories);
  const { findChanges, end } = createProtectedWatch(find)(await find());
  change();
  const changes = await findChanges();
  end();
  return changes.map((path) => path.slice(root.length + 1));
}

describe("what is protected", () => {
  const files = [".envrc", ".mcp.json", "AGENTS.md", "pkg/.npmrc", "pkg/deep/CLAUDE.md", ".hg/hgrc", ".GITMODULES"];
  const inFolders = [
    ".vscode/tasks.json",
    ".github/workflows/ci.yml",
    "a/.husky/pre-commit",
    ".yarn/releases/yarn.cjs",
  ];
  const free = ["node_modules/x/.npmrc", ".yarn/install-state.gz", ".hg/store", ".pnp.cjs", "pkg/deep/other"];

  test("are files at any depth and folders, in each writable directory, and not what lies around them", async () => {
    const all = [...files, ...inFolders, ...free];
    for (const path of all) put(path);
    expect(await keptOf(all)).toEqual([...files, ...inFolders]);
    const writable = ["pkg", "pkg/deep", ".hg"].map((name) => join(root, name));
    expect(await keptOf(all, [], writable)).toEqual(["pkg/.npmrc", "pkg/deep/CLAUDE.md", ".hg/hgrc"]);
    await expect(findProtected([root], [], new Set(), 10)).rejects.toThrow(/more than 10 files .*sandbox\.unprotected/);
  });

  test("is what a link leads to, and the link is watched", async () => {
    for (const path of ["docs/agents.md", "docs/other.md"]) put(path);
    for (const [target, name] of [
      ["docs/agents.md", "AGENTS.md"],
      ["nowhere", "CLAUDE.md"],
      [".", ".claude"],
    ] as const)
      symlinkSync(target, join(root, name));
    expect(await keptOf(["docs/agents.md", "docs/other.md", "AGENTS.md"])).toEqual(["docs/agents.md"]);
    const changes = await changesOf(() => {
      rmSync(join(root, "AGENTS.md"));
      put("AGENTS.md", "bad");
    });
    expect(changes).toEqual(["AGENTS.md"]);
  });

  test("is told where it was made, changed by another name, or removed, and a named pipe is not waited for", async () => {
    put(".envrc");
    put("sub/.npmrc");
    linkSync(join(root, ".envrc"), join(root, "other"));
    const changes = await changesOf(() => {
      appendFileSync(join(root, "other"), "bad");
      rmSync(join(root, "sub/.npmrc"));
      put("sub/.vscode/tasks.json");
      mkdirSync(join(root, "pipe/.git"), { recursive: true });
      execFileSync("mkfifo", [join(root, "pipe/.git/config")]);
    });
    expect(changes).toEqual(["pipe/.git/config", ".envrc", "sub/.npmrc", "sub/.vscode"]);
    expect(await changesOf(() => {})).toEqual([]);
  });

  test("that was changed between two commands is not told by the second", async () => {
    const find = (): ReturnType<typeof findProtected> => findProtected([root], [], repositories);
    const watch = createProtectedWatch(find);
    const first = watch(await find());
    expect(await first.findChanges()).toEqual([]);
    first.end();
    put("AGENTS.md", "the user's");
    expect(await watch(await find()).findChanges()).toEqual([]);
  });

  test("is the settings of a home that is a root, while a root below a protected place is the user's choice", async () => {
    vi.stubEnv("HOME", root);
    const all = [".config/app/x", ".bashrc", ".ssh/config", "bin/tool"];
    for (const path of all) put(path);
    expect(await keptOf(all)).toEqual(all);
    expect(await keptOf(all, [], [join(root, ".config/app")])).toEqual([]);
  });
});

withGit("of git is protected", () => {
  test("configuration and hooks of repositories, submodules, worktrees, bare ones and those of other names", async () => {
    makeRepository();
    git("submodule", "--quiet", "add", join(root, "elsewhere.git"), "lib/sub");
    git("worktree", "add", "-q", "--detach", "wt");
    git("init", "-q", "--separate-git-dir", "apart", "sep");
    git("init", "-q", "linked");
    renameSync(join(root, "linked/.git"), join(root, "real"));
    symlinkSync("../real", join(root, "linked/.git"));
    const kept = [
      [".git/config", ".git/hooks/pre-push", ".git/modules/lib/sub/config", ".git/modules/lib/sub/hooks/pre-commit"],
      [".git/worktrees/wt/commondir", "wt/.git", "lib/sub/.git", ".gitmodules", "real/config", "real/hooks/x"],
      ["elsewhere.git/config", "elsewhere.git/hooks/update", "apart/config", "apart/hooks/x", "sep/.git"],
    ].flat();
    const free = [".git/HEAD", ".git/index", ".git/objects/x", ".git/modules/lib/sub/HEAD", "apart/index", "real/HEAD"];
    expect(await keptOf([...kept, ...free])).toEqual(kept);
  });

  test("what its configuration names, and what that includes, also of a worktree or a folder alone", async () => {
    makeRepository();
    git("worktree", "add", "-q", "--detach", "wt");
    const named = [
      "ci/hooks/pre-commit",
      "ci/monitor.sh",
      "ci/merge.sh",
      "ci/shared.gitconfig",
      "wt/ci/hooks/pre-commit",
    ];
    for (const path of [...named, "ci/free"]) put(path);
    put("ci/shared.gitconfig", '[merge "x"]\n  driver = sh ./ci/merge.sh %O\n[include]\n path = missing');
    git("config", "core.hooksPath", "ci/hooks");
    git("config", "core.fsmonitor", "./ci/monitor.sh");
    git("config", "includeIf.onbranch:x.path", "../ci/shared.gitconfig");
    expect(await keptOf([...named, "ci/free"])).toEqual(named);
    expect(await keptOf(named, [], [join(root, "wt")])).toEqual(["wt/ci/hooks/pre-commit"]);
    expect(await keptOf(["ci/monitor.sh", "ci/free"], [], [join(root, "ci")])).toEqual(["ci/monitor.sh"]);
  });

  test("a repository of which something was taken out, also by a tool that is made meanwhile", async () => {
    makeRepository();
    git("submodule", "--quiet", "add", join(root, "elsewhere.git"), "sub");
    git("worktree", "add", "-q", "--detach", "wt");
    const kept = ["elsewhere.git/config", ".git/modules/sub/config", ".git/worktrees/wt/commondir"];
    const folders = kept.map((path) => join(root, path, ".."));
    expect(await keptOf(kept)).toEqual(kept);
    for (const parts of [["HEAD"], ["objects"], ["refs"], ["HEAD", "objects", "refs"]]) {
      const move = (from: string, to: string): void => {
        for (const folder of folders)
          for (const part of parts)
            if (readdirSync(folder).includes(part + from))
              renameSync(join(folder, part + from), join(folder, part + to));
      };
      move("", ".away");
      expect([parts, await keptOf(kept)]).toEqual([parts, kept]);
      const known = repositories;
      repositories = new Set();
      const byParts = parts.length > 1 ? kept.slice(1) : kept;
      expect([parts, await keptOf(kept)]).toEqual([parts, byParts]);
      repositories = known;
      move(".away", "");
    }
  });

  test("no folder that only has parts of such names", async () => {
    const paths = ["src/config/x", "src/hooks/x", "src/objects/x", "head/config"];
    for (const path of paths) put(path);
    expect(await keptOf(paths)).toEqual([]);
  });

  test("and what makes one of a folder, or points to another, is told first", async () => {
    makeRepository();
    const changes = await changesOf(() => {
      for (const path of [".envrc", "b/commondir", ".git/commondir", ".git/config.worktree"]) put(path);
      put("b/HEAD", "ref: refs/heads/main");
      for (const folder of ["cm/objects", "cm/refs"]) mkdirSync(join(root, folder), { recursive: true });
      put("cm/config", "[core] fsmonitor = touch escaped");
    });
    const told = [".git/commondir", "b/commondir", "cm/config", ".git/config.worktree"];
    expect(changes.at(-1)).toBe(".envrc");
    expect(changes.slice(0, -1).sort()).toEqual(told.sort());
  });

  test("a rebase that runs programs when the user goes on, which is told and not kept", async () => {
    makeRepository();
    const list = ".git/rebase-merge/git-rebase-todo";
    const exec = "exec touch escaped\n";
    const behindMuch = `${"#\n".repeat(500_000)}${exec}`;
    for (const [text, told] of [
      ["break\n", []],
      [`pick a\n${exec}`, [list]],
      [behindMuch, [list]],
    ] as const)
      expect(await changesOf(() => put(list, text))).toEqual(told);
    expect(await changesOf(() => put(list, "break\n"))).toEqual([list]);
    put("x", exec);
    const link = (): void => {
      rmSync(join(root, list));
      symlinkSync("../../x", join(root, list));
    };
    expect(await changesOf(link)).toEqual([list]);
    expect(await keptOf([list])).toEqual([]);
  });
});

describe("the switch", () => {
  test("lets a path through, folders with all that is in them, and a root", async () => {
    const all = ["vendor/a/.npmrc", ".git/config", ".git/hooks/x", ".npmrc"];
    for (const path of all) put(path);
    expect(await keptOf(all)).toEqual(all);
    expect(await keptOf(all, [".git/config"])).toEqual(["vendor/a/.npmrc", ".git/hooks/x", ".npmrc"]);
    expect(await keptOf(all, ["./vendor/"])).toEqual(all.slice(1));
    expect(await keptOf(all, ["./"])).toEqual([]);
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
