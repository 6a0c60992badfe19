import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram, isInside } from "@toolcrib/kit/files";
import { beforeAll, describe, expect, test } from "vitest";
import { sharedFolder, writeIn } from "../../fixtures/commands.ts";
import { createRunBashTool } from "../runBash.ts";
import { createSandboxRuntime } from "../sandboxRuntime.ts";
import { gitFoldersOf } from "./gitFolders.ts";
import { findProtected } from "./protectedPaths.ts";

const hasGit = findProgram("git") !== undefined;
const root = sharedFolder("worktrees");

function git(cwd: string, ...args: string[]): void {
  const given = ["user.name=n", "user.email=n@example.com", "protocol.file.allow=always"].flatMap((one) => ["-c", one]);
  execFileSync("git", [...given, ...args], { cwd: join(root, cwd), stdio: "pipe" });
}

/** The folders that are opened for a directory. */
const opened = (path: string): string[] =>
  gitFoldersOf([join(root, path)]).map((folder) => folder.slice(root.length + 1));

beforeAll(() => {
  if (!hasGit) return;
  git(".", "init", "-q", "other");
  git("other", "commit", "-q", "--allow-empty", "-m", "1");
  git(".", "clone", "-q", "--bare", "other", "project/.bare");
  git("project/.bare", "worktree", "add", "-q", "--detach", "../main");
  git(".", "clone", "-q", "other", "repo");
  git("repo", "submodule", "--quiet", "add", join(root, "other"), "lib/sub");
  git("repo", "commit", "-qm", "sub");
  git("repo", "worktree", "add", "-q", "--detach", "../beside");
  git("repo", "worktree", "add", "-q", "--detach", ".trees/within");
  git("repo/lib/sub", "worktree", "add", "-q", "--detach", "../../../of-sub");
  git("beside", "submodule", "--quiet", "update", "--init");
});

describe.runIf(hasGit)(
  "worktrees: git's folder is writable with a linked worktree or a submodule that it names",
  () => {
    test.each([
      ["beside", ["repo/.git"]],
      ["repo/.trees/within", ["repo/.git"]],
      ["project/main", ["project/.bare"]],
      ["repo/lib/sub", ["repo/.git/modules/lib/sub"]],
      ["of-sub", ["repo/.git/modules/lib/sub"]],
      ["beside/lib/sub", ["repo/.git/worktrees/beside/modules/lib/sub"]],
      ["repo", []],
      ["beside/lib", []],
      [".", []],
    ])("of %s: %j", (path, folders) => {
      expect(opened(path)).toEqual(folders);
    });

    test("by relative links as well, and not where the folder is writable anyway", () => {
      const file = join(root, "repo/.git/worktrees/within/gitdir");
      const [before, link] = [readFileSync(file, "utf8"), readFileSync(join(root, "repo/.trees/within/.git"), "utf8")];
      writeFileSync(file, "../../../.trees/within/.git\n");
      writeIn(root, "repo/.trees/within/.git", "gitdir: ../../.git/worktrees/within\n");
      expect(opened("repo/.trees/within")).toEqual(["repo/.git"]);
      writeFileSync(file, before);
      writeIn(root, "repo/.trees/within/.git", link);
      expect(gitFoldersOf([join(root, "beside"), join(root, "repo")])).toEqual([]);
    });

    test("and nothing by a .git file that leads elsewhere", () => {
      mkdirSync(join(root, "fake/.git/worktrees/x"), { recursive: true });
      mkdirSync(join(root, "stray"));
      for (const link of [
        "../repo/.git",
        "../repo/.git/worktrees/beside",
        "../repo/.git/modules/lib/sub",
        "../project/.bare",
        "../fake/.git/worktrees/x",
        "../missing",
        "",
      ]) {
        writeIn(root, "stray/.git", `gitdir: ${link}\n`);
        expect([link, opened("stray")]).toEqual([link, []]);
      }
      // It names the directory back, but lies in no list of worktrees, or in that of another repository.
      writeIn(root, "stray/.git", "gitdir: ../apart/x\n");
      for (const [name, text] of Object.entries({
        HEAD: "x",
        gitdir: join(root, "stray/.git"),
        commondir: "../../repo/.git",
      }))
        writeIn(root, `apart/x/${name}`, text);
      expect(opened("stray")).toEqual([]);
      mkdirSync(join(root, "apart/worktrees"));
      renameSync(join(root, "apart/x"), join(root, "apart/worktrees/x"));
      writeIn(root, "stray/.git", "gitdir: ../apart/worktrees/x\n");
      writeIn(root, "apart/worktrees/x/commondir", "../../../repo/.git");
      expect(opened("stray")).toEqual([]);
      // The repository lies around the directory, whose commands could have made all that leads to it.
      writeIn(root, "project/.bare/a/.git", "gitdir: own\n");
      writeIn(root, "project/.bare/a/own/HEAD", "x");
      writeIn(root, "project/.bare/a/own/gitdir", join(root, "project/.bare/a/.git"));
      for (const common of ["..", "../.."]) {
        writeIn(root, "project/.bare/a/own/commondir", common);
        expect([common, opened("project/.bare/a")]).toEqual([common, []]);
      }
      rmSync(join(root, "stray/.git"));
      symlinkSync(join(root, "beside/.git"), join(root, "stray/.git"));
      expect(opened("stray")).toEqual([]);
    });

    test("but for its protected files, and what its configuration names in the worktree", async () => {
      writeIn(root, "repo/.git/objects/info/alternates", join(root, "other/.git/objects"));
      writeIn(root, "repo/.git/worktrees/beside/config.worktree", "");
      writeIn(root, "beside/ci/hooks/pre-commit", "");
      git("repo", "config", "core.hooksPath", "ci/hooks");
      const kept = [
        ...[
          "repo/.git/config",
          "repo/.git/hooks/x",
          "repo/.git/objects/info/alternates",
          "beside/.git",
          "beside/ci/hooks/x",
        ],
        ...["gitdir", "commondir", "config.worktree"].map((name) => `repo/.git/worktrees/beside/${name}`),
        ...[
          "repo/.git/worktrees/within/gitdir",
          "repo/.git/modules/lib/sub/config",
          "repo/.git/modules/lib/sub/hooks/x",
        ],
      ];
      const free = ["repo/.git/HEAD", "repo/.git/refs/x", "repo/.git/objects/x", "repo/.git/worktrees/beside/index"];
      const protectedOf = async (writable: string[]): Promise<string[]> => {
        const found = await findProtected(
          writable.map((path) => join(root, path)),
          [],
        );
        return [...kept, ...free].filter((path) => found.kept.some((place) => isInside(place, join(root, path))));
      };
      expect(await protectedOf(["beside", "repo/.git"])).toEqual(kept);
      // Also where the worktree lies in a folder that is writable with its repository.
      expect((await protectedOf(["."])).filter((path) => path.startsWith("beside"))).toEqual([
        "beside/.git",
        "beside/ci/hooks/x",
      ]);
    });

    test("which a question shows, and which deny keeps closed", async () => {
      const beside = join(root, "beside");
      const confinement = async (given: object): Promise<string | undefined> =>
        (await createRunBashTool({ root: beside, sandbox: true, ...given }).effects?.({ command: "x" }))?.[0]
          ?.confinement;
      const both = `writable ${JSON.stringify([beside, join(root, "repo/.git")])}`;
      expect(await confinement({})).toContain(both);
      expect(await confinement({ sandbox: createSandboxRuntime({ writable: beside }) })).toContain(both);
      expect(await confinement({ deny: [join(root, "repo/.git/")] })).toContain(
        `writable ${JSON.stringify([beside])};`,
      );
      expect(existsSync(join(root, "repo/.git/config"))).toBe(true);
    });
  },
);
