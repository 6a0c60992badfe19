import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, win32 } from "node:path";
import { defineTool, type ExecutableTool, type ToolEffect, ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { beforeEach, describe, expect, test } from "vitest";
import { linesOf } from "../../../../testing/shell/corpora.ts";
import { largeFolder } from "../../../../testing/shell/largeFolder.ts";
import { createFsTools } from "../../../tools-fs/src/fileSystem.ts";
import { createPolicy, type PolicyOptions, protectedPaths } from "../index.ts";
import { compileProtected, ownFolders, plainNames } from "./protectedPaths.ts";

let root: string;

beforeEach(() => {
  root = temporaryFolder("policy");
});

const registryWith = (options: PolicyOptions): ToolRegistry =>
  new ToolRegistry(createFsTools({ cwd: root })).guard(
    createPolicy({ roots: root, home: join(root, "home"), ...options }).guard,
  );

async function answer(
  options: PolicyOptions,
  name: string,
  args: Record<string, unknown>,
  registry = registryWith(options),
): Promise<string> {
  const checked = await registry.check(name, args);
  return checked.ok ? "allowed" : checked.error.message;
}

const write = (options: PolicyOptions, path: string): Promise<string> =>
  answer(options, "write_file", { path, content: "" });

/** As `remove` would declare it if the folder were not a root. */
function movable(tool: ExecutableTool | undefined, path: string): ExecutableTool {
  if (!tool) throw new Error("there is no such tool");
  const effects: ToolEffect[] = [{ kind: "delete", path, tree: true }];
  return { ...tool, effects: () => effects };
}

const examples = linesOf("protectedPaths", "protected");

describe("a protected path", () => {
  test("is asked about where changes are accepted, in each mode", async () => {
    for (const mode of ["ask", "accept-edits", "full"] as const) {
      const registry = registryWith({ mode, allow: ["write_file", "effect:write(**)"] });
      for (const path of examples) {
        expect(await answer({}, "write_file", { path, content: "" }, registry), `${mode} ${path}`).toMatch(
          /^Approval required: write_file would write .*; asked because it is protected \(/,
        );
      }
    }
  });

  test("has an example for each entry of the published list", () => {
    const { match } = compileProtected(protectedPaths, { roots: [root], home: join(root, "home") });
    const matched = new Set(examples.map((path) => match(join(root, path))?.pattern));
    expect(protectedPaths.map(({ pattern }) => pattern).filter((pattern) => !matched.has(pattern))).toEqual([]);
    expect(protectedPaths.filter(({ why }) => why === "")).toEqual([]);
    expect(Object.isFrozen(protectedPaths)).toBe(true);
  });

  test("is denied in read-only, and read in each mode", async () => {
    expect(await write({ mode: "read-only", allow: ["effect:write(.git/)"] }, ".git/config")).toContain(
      "Permission denied",
    );
    mkdirSync(join(root, ".git"));
    writeFileSync(join(root, ".git/config"), "");
    expect(await answer({}, "read_file", { path: ".git/config" })).toBe("allowed");
  });

  test.each(linesOf("protectedPaths", "not protected"))("is not every path: %s", async (path) => {
    expect(await write({ mode: "accept-edits" }, path)).toBe("allowed");
  });

  test.each(linesOf("protectedPaths", "other spellings"))(
    "is protected in another spelling that a file system accepts: %j",
    async (path) => {
      expect(await write({ mode: "full" }, path)).toContain("is protected");
    },
  );

  test("is protected through a link, and where the link itself has that name", async () => {
    mkdirSync(join(root, ".git"));
    symlinkSync(".git", join(root, "plain"));
    expect(await write({ mode: "full" }, "plain/config")).toContain("is protected (.git)");
    mkdirSync(join(root, "real"));
    symlinkSync("real", join(root, ".vscode"));
    expect(await write({ mode: "full" }, ".vscode/tasks.json")).toContain("is protected (.vscode/)");
  });

  test("is not the folder above a root", async () => {
    const inside = join(root, ".claude/work");
    mkdirSync(inside, { recursive: true });
    expect(await write({ mode: "accept-edits", roots: inside }, ".claude/work/a.ts")).toBe("allowed");
    expect(await write({ mode: "accept-edits", roots: inside }, ".claude/work/.claude/a")).toContain("is protected");
  });
});

describe("a rule that names it outright allows it", () => {
  test.each([
    ["effect:write(.git/config)", ".git/config"],
    ["write_file(.git/)", ".git/hooks/x"],
    ["write_file(.git)", "sub/.git/x"],
    ["write_file(**/.mcp.json)", "a/.mcp.json"],
    ["write_file(/ROOT/.npmrc)", ".npmrc"],
    ["write_file(./.vscode/*.json)", ".vscode/a.json"],
    ["write_file(.github/workflows/)", ".github/workflows/ci.yml"],
    ["write_file(~/.config/)", "home/.config/x"],
    ["write_file(*.code-workspace)", "a.code-workspace"],
  ])("%s", async (rule, path) => {
    expect(await write({ allow: [rule.replace("/ROOT", root)] }, path)).toBe("allowed");
  });

  test.each([
    ["write_file", ".git/config"],
    ["effect:write", ".git/config"],
    ["write_file(**)", ".git/config"],
    ["write_file(*)", ".git/config"],
    ["write_file(.g*)", ".git/config"],
    ["write_file(.github/)", ".github/workflows/ci.yml"],
    ["write_file(./)", ".git/config"],
    ["write_file(.git/hooks/)", ".git/config"],
    ["write_file(.vscode/)", ".git/config"],
    ["write_file(src/)", "src/.git/config"],
    ["effect:delete(.git/)", ".git/config"],
  ])("%s does not: %s", async (rule, path) => {
    expect(await write({ allow: [rule] }, path)).toContain("is protected");
  });

  test("but not against deny or ask", async () => {
    const allow = ["write_file(.npmrc)"];
    expect(await write({ allow, ask: ["write_file(.npmrc)"] }, ".npmrc")).toContain("Approval required");
    expect(await write({ allow, deny: ["effect:write(.npmrc)"] }, ".npmrc")).toContain("Permission denied");
  });
});

describe("a folder that holds something protected", () => {
  beforeEach(() => {
    mkdirSync(join(root, "pkg/deep/.vscode"), { recursive: true });
    mkdirSync(join(root, "plain/x"), { recursive: true });
  });

  test("is asked about before it is removed or moved, and names what it holds", async () => {
    expect(await answer({ mode: "full" }, "remove", { path: "pkg" })).toContain(
      "asked because pkg/deep/.vscode is protected (.vscode/)",
    );
    expect(await answer({ mode: "full" }, "move", { source: "pkg", destination: "p" })).toContain(
      "pkg/deep/.vscode is protected",
    );
    expect(await answer({ mode: "full", allow: ["effect:delete(.vscode/)"] }, "remove", { path: "pkg" })).toContain(
      "is protected",
    );
  });

  test("is not allowed by a rule about what it holds", async () => {
    const remove = (allow: string[]): Promise<string> => answer({ mode: "full", allow }, "remove", { path: "pkg" });
    expect(await remove(["effect:delete(.vscode)"])).toContain("pkg/deep/.vscode is protected");
    expect(await remove(["effect:delete"])).toContain("pkg/deep/.vscode is protected");
  });

  test("counts as one where it holds more than can be looked through", async () => {
    const large = largeFolder();
    const policy = createPolicy({ mode: "full", roots: large });
    const [tool] = createFsTools({ cwd: large }).filter(({ name }) => name === "remove");
    const args = { path: large };
    const { text, decision, decidedBy } = await policy.explain({ name: "remove", args, tool: movable(tool, large) });
    expect(text).toContain("it contains more than can be searched for protected paths");
    expect([decision, decidedBy]).toEqual(["ask", { by: "protected", pattern: "" }]);
    rmSync(join(large, "5000"));
    expect((await policy.explain({ name: "remove", args, tool: movable(tool, large) })).decision).toBe("allow");
  });

  test("is asked about, or denied, where a folder gets it by its new name", async () => {
    for (const path of ["wf/workflows", "wf/deep/cfg", ".github"]) mkdirSync(join(root, path), { recursive: true });
    writeFileSync(join(root, "wf/workflows/ci.yml"), "");
    symlinkSync("wf", join(root, "link"));
    const move = (source: string, destination: string, options: PolicyOptions = {}): Promise<string> =>
      answer({ mode: "accept-edits", ...options }, "move", { source, destination });
    // Only from its new place it leads anywhere.
    mkdirSync(join(root, "links"));
    symlinkSync("wf", join(root, "links/lw"));
    for (const source of ["wf", "link", "wf/../link", "links/lw"]) {
      const asked = await move(source, ".forgejo");
      expect([source, asked]).toEqual([source, expect.stringContaining("is protected (.forgejo/workflows/)")]);
    }
    expect(await move("wf", "moved", { deny: ["effect:write(moved/deep/cfg)"] })).toContain("Permission denied");
    expect(await move("wf", ".forgejo", { allow: ["effect:write(.forgejo/workflows)"] })).toBe("allowed");
    expect(await move("wf", "moved")).toBe("allowed");
    expect(await move("wf", ".forgejo/deep")).toBe("allowed");
  });

  test("another folder is not asked about", async () => {
    expect(await answer({ mode: "accept-edits" }, "remove", { path: "plain" })).toBe("allowed");
    expect(await answer({ mode: "accept-edits" }, "move", { source: "plain", destination: "p" })).toBe("allowed");
  });
});

test("the session of an agent is saved where the program says", async () => {
  const saves = defineTool({
    name: "save_session_context",
    description: "s",
    parameters: { type: "object" },
    execute: () => "",
  });
  const effects: ToolEffect[] = [{ kind: "write", path: join(root, ".toolcrib/session.json") }];
  const decide = async (origin: string): Promise<boolean> => {
    const registry = new ToolRegistry([{ ...saves, origin, effects: () => effects }]);
    registry.guard(createPolicy({ mode: "accept-edits", roots: root }).guard);
    return (await registry.check("save_session_context", {})).ok;
  };
  expect(await decide("@toolcrib/agent")).toBe(true);
  expect(await decide("own")).toBe(false);
});

describe("more protected places", () => {
  test("are those of the option protect", async () => {
    expect(await write({ mode: "full", protect: ["infra/"] }, "infra/main.tf")).toContain(
      "(infra/): it was named as protected",
    );
    expect(() => createPolicy({ protect: [5] as unknown as string[] })).toThrow(
      "protect must be an array of path patterns",
    );
    expect(() => createPolicy({ protect: "x" as unknown as string[] })).toThrow(TypeError);
    expect(() => createPolicy({ protect: [""] })).toThrow(TypeError);
  });

  test("are what git's configuration names and git runs", async () => {
    mkdirSync(join(root, ".git"));
    mkdirSync(join(root, "src"));
    const config = "[include]\n path = ../shared.cfg\n[core]\n hooksPath = tools/hooks\n fsmonitor = ./watch.sh -x\n";
    writeFileSync(join(root, ".git/config"), `${config}[safe]\n directory = ${root}\n directory = ./src\n`);
    writeFileSync(join(root, "shared.cfg"), "[alias]\n x = !./a/x.sh\n");
    writeFileSync(join(root, ".git/config.worktree"), '[include]\n path = ../of\\"worktree.cfg\n');
    for (const path of ['of"worktree.cfg', "shared.cfg", "tools/hooks/pre-commit", "watch.sh", "a/x.sh"])
      expect([path, await write({ mode: "accept-edits" }, path)]).toEqual([
        path,
        expect.stringContaining("git runs it"),
      ]);
    for (const path of ["src/a.ts", "b.sh", "tools/x"])
      expect([path, await write({ mode: "accept-edits" }, path)]).toEqual([path, "allowed"]);
  });

  test("are not a whole root where git's configuration names it or a folder above", async () => {
    mkdirSync(join(root, ".git"));
    for (const path of [".", ".."]) {
      writeFileSync(join(root, ".git/config"), `[core]\n hooksPath = ${path}\n`);
      expect(await write({ mode: "accept-edits" }, "src/a.ts")).toBe("allowed");
    }
  });

  test.each(linesOf("protectedPaths", "texts for a shell"))(
    "are programs in the text for a shell %j",
    async (value) => {
      mkdirSync(join(root, ".git"));
      writeFileSync(join(root, ".git/config"), `[diff "x"]\n textconv = ${value}\n`);
      expect(await write({ mode: "accept-edits" }, "tools/run.sh")).toContain("git runs it");
      expect(await write({ mode: "accept-edits" }, "tools/other.sh")).toBe("allowed");
    },
  );

  test("are what it names for a root in a repository that lies above, or elsewhere as that of a worktree does", async () => {
    const put = (path: string, text: string): void => {
      mkdirSync(join(root, path, ".."), { recursive: true });
      writeFileSync(join(root, path), text);
    };
    put("main/.git/config", "[core]\n hooksPath = tools/hooks\n[include]\n path = ../sub/shared.cfg\n");
    put("main/.git/worktrees/wt/commondir", "../..\n");
    put("main/.git/worktrees/wt/config.worktree", "[core]\n fsmonitor = ./watch.sh\n");
    put("wt/.git", "gitdir: ../main/.git/worktrees/wt\n");
    mkdirSync(join(root, "main/sub"));
    const decide = (folder: string, path: string): Promise<string> =>
      write({ mode: "accept-edits", roots: join(root, folder) }, join(root, folder, path));
    for (const path of ["tools/hooks/pre-commit", "watch.sh"])
      expect(await decide("wt", path)).toContain("the configuration of git names it, and git runs it");
    expect(await decide("main/sub", "shared.cfg")).toContain("git runs it");
    expect([await decide("wt", "a"), await decide("main/sub", "a")]).toEqual(["allowed", "allowed"]);
  });

  test("are those of submodules and worktrees in the folder of git, and what their configurations name", async () => {
    const put = (path: string, text: string): void => {
      mkdirSync(join(root, path, ".."), { recursive: true });
      writeFileSync(join(root, path), text);
    };
    const submodules = [".git/modules/lib/sub", ".git/modules/lib/sub/modules/inner", ".git/worktrees/wt"];
    for (const [at, path] of submodules.entries()) {
      put(`${path}/HEAD`, "ref: refs/heads/main\n");
      put(
        `${path}/${path.includes("worktrees") ? "config.worktree" : "config"}`,
        `[core]\n fsmonitor = ./watch${at}.sh\n`,
      );
    }
    put(".git/modules/lib/sub/config", `[core]\n worktree = ../../../../lib/sub\n fsmonitor = ./watch0.sh\n`);
    const named = ["lib/sub/watch0.sh", "watch1.sh", "watch2.sh"];
    for (const path of [".git/modules/a/config", ".git/modules/a/hooks/x", ".git/worktrees/wt/gitdir", ...named])
      expect(await write({ mode: "accept-edits" }, path)).toContain("git runs");
    expect(await write({ mode: "accept-edits" }, "watch3.sh")).toBe("allowed");
  });

  test("are the tool's own folders, where the environment puts them", () => {
    const list = ownFolders({ XDG_CONFIG_HOME: "/cfg/[a]*", XDG_STATE_HOME: "relative" });
    expect(list.map(({ pattern }) => pattern)).toEqual(["~/.local/state/toolcrib/", "/cfg/\\[a]\\*/toolcrib/"]);
    const { match } = compileProtected(list, { roots: [root], home: "/home/me" });
    expect(match("/cfg/[a]*/toolcrib/rules.json")?.why).toContain("what an agent may do");
    expect(match("/cfg/a/toolcrib/rules.json")).toBeUndefined();
    expect(match("/home/me/.local/state/toolcrib/x")).toBeDefined();
  });
});

test("the tool's own folders are those of the user on Windows", () => {
  const env = {
    APPDATA: "C:\\Users\\me\\AppData\\Roaming",
    LOCALAPPDATA: "C:\\Users\\me\\AppData\\Local",
    XDG_CONFIG_HOME: "x",
  };
  const patterns = (style?: typeof win32): string[] => ownFolders(env, style).map(({ pattern }) => pattern);
  expect(patterns(win32)).toEqual([
    "~/.local/state/toolcrib/",
    "C:/Users/me/AppData/Roaming/toolcrib/",
    "C:/Users/me/AppData/Local/toolcrib/",
  ]);
  expect(patterns()).toEqual(["~/.local/state/toolcrib/"]);
});

test("names are read as Windows opens them", () => {
  expect(plainNames("/a/b.c/d e")).toBe("/a/b.c/d e");
  expect(plainNames("/a./b /c:x/ . ")).toBe("/a/b/c/ . ");
  expect(plainNames("/a:b/é")).toBe("/a/é");
  expect(plainNames("C:/x:y")).toBe("C:/x");
});

test("protected paths hold in every spelling of Windows, on drives and shares", () => {
  const roots = ["C:\\work", "\\\\server\\share\\work"];
  const { match, mayMatchBelow } = compileProtected(protectedPaths, { roots, home: "C:\\Users\\me" }, win32);
  const paths = linesOf("protectedPaths", "spellings of Windows");
  for (const path of paths) expect(match(path), path).toBeDefined();
  for (const path of ["C:\\work\\src\\a.ts", "C:\\work\\git\\config", "C:\\Users\\me\\x"])
    expect(match(path), path).toBeUndefined();
  expect(mayMatchBelow("c:\\work")).toBe(true);
});

test("names are read as Windows opens them, from a drive and from a share", () => {
  expect(plainNames("C:\\a.\\b \\c:x", win32)).toBe("C:\\a\\b\\c");
  expect(plainNames("c:\\x::$DATA", win32)).toBe("c:\\x");
  expect(plainNames("C:/a./b:x", win32)).toBe("C:\\a\\b");
  expect(plainNames("\\\\server\\share\\.git.", win32)).toBe("\\\\server\\share\\.git");
});
