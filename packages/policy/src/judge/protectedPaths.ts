import { join, sep } from "node:path";
import { compilePathPatterns } from "@toolcrib/core/files";
import type { PathPlaces } from "../rules/compileRules.ts";

/** A place whose files start programs, or decide what may be done, without anybody asking. */
export interface ProtectedPath {
  /** In the syntax of a rule's path pattern. */
  readonly pattern: string;
  readonly why: string;
}

const of = (why: string, ...patterns: readonly string[]): ProtectedPath[] =>
  patterns.map((pattern) => ({ pattern, why }));

/**
 * What is asked about before it is written or deleted, in each mode but `read-only`, which denies it. On this list: files that make
 * a program start, or change which one does, when the user next opens the folder, opens a shell or uses a usual tool there, and
 * what decides about permissions. Not on it: what runs only when it is asked for (scripts, sources, `package.json`).
 */
export const protectedPaths: readonly ProtectedPath[] = Object.freeze([
  ...of("git runs hooks and programs that are named there", ".git", ".gitconfig", ".gitmodules", ".githooks/"),
  ...of(
    "it holds hooks that git runs",
    ".husky/",
    ".huskyrc*",
    "lefthook.yml",
    ".lefthook.yml",
    ".pre-commit-config.yaml",
  ),
  ...of("it names programs that are started as servers of tools", ".mcp.json"),
  ...of("it is read when a shell enters the folder", ".envrc"),
  ...of(
    "an editor runs what it says",
    ...[".vscode/", ".idea/", ".devcontainer/", ".devcontainer.json", "*.code-workspace", ".zed/", ".fleet/"],
    ...[".exrc", ".vimrc", ".gvimrc", ".nvimrc", ".nvim.lua", ".vim/", ".emacs", ".emacs.d/", ".dir-locals.el"],
  ),
  ...of(
    "a shell reads it when it starts",
    ...[".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".inputrc"],
    ...[
      ".zshrc",
      ".zshenv",
      ".zprofile",
      ".zlogin",
      ".zlogout",
      ".kshrc",
      ".mkshrc",
      ".cshrc",
      ".tcshrc",
      ".login",
      ".logout",
    ],
    ...[
      "Microsoft.PowerShell_profile.ps1",
      "profile.ps1",
      ".xprofile",
      ".xinitrc",
      ".xsession",
      ".xsessionrc",
      ".pam_environment",
    ],
  ),
  ...of(
    "a package manager runs what it names",
    ...[
      ".npmrc",
      ".yarnrc",
      ".yarnrc.yml",
      ".yarn/",
      ".pnp.*",
      ".pnpmfile.*",
      "bunfig.toml",
      ".cargo/",
      "pip.conf",
      ".condarc",
    ],
  ),
  ...of("it decides who may log in, or where", ".ssh/", ".gnupg/", ".aws/", ".kube/", ".docker/", ".netrc"),
  ...of(
    "it decides what an agent may do",
    ".claude/",
    ".cursor/",
    ".codex/",
    ".gemini/",
    ".opencode/",
    ".windsurf/",
    ".toolcrib/",
    ".toolcrib.json",
  ),
  ...of(
    "it runs elsewhere, with the secrets of the project",
    ".github/workflows/",
    ".github/actions/",
    ".gitlab-ci.yml",
    ".circleci/",
  ),
  ...of(
    "programs of the user are started or found there",
    "~/.config/",
    "~/.local/bin/",
    "~/bin/",
    "~/Library/LaunchAgents/",
  ),
]);

/** The tool's own configuration and state, wherever the environment puts them. */
export function ownFolders(env: Readonly<Record<string, string | undefined>>): ProtectedPath[] {
  const folders = [env.XDG_CONFIG_HOME, env.XDG_STATE_HOME].flatMap((base) =>
    base?.startsWith("/") ? [join(base, "toolcrib")] : [],
  );
  return of(
    "it decides what an agent may do",
    "~/.local/state/toolcrib/",
    ...folders.map((folder) => `${escapeGlob(folder)}/`),
  );
}

function escapeGlob(path: string): string {
  return path.replace(/[*?[\\]/g, "\\$&");
}

/** The list, compiled. */
export interface ProtectedMatcher {
  match(path: string): ProtectedPath | undefined;
  mayMatchBelow(folder: string): boolean;
}

export function compileProtected(list: readonly ProtectedPath[], { roots, home }: PathPlaces): ProtectedMatcher {
  const byPattern = new Map(list.map((one) => [one.pattern, one]));
  const paths = compilePathPatterns([...byPattern.keys()], {
    roots,
    home,
    ignoreCase: true,
    missingMatches: true,
    followLinks: true,
  });
  return {
    match(path) {
      const found = paths.match(plainNames(path));
      return found === undefined ? undefined : byPattern.get(found);
    },
    mayMatchBelow: (folder) => paths.mayMatchBelow(plainNames(folder)),
  };
}

const unusual = /[^\u0020-\u007e]|:|[. ](?:[/\\]|$)/;

/**
 * The path with each name as Windows would open it: compatible letters are one, a stream (`.git:x`) and dots and spaces at the end
 * do not count.
 */
export function plainNames(path: string): string {
  if (!unusual.test(path)) return path;
  const names = path.split(sep).map((name, at) => {
    const shown = name.normalize("NFKC").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
    // Not the colon of a drive.
    const plain = at === 0 && /^[A-Za-z]:$/.test(shown) ? shown : shown.replace(/:.*$/s, "");
    return plain.replace(/[. ]+$/, "") || name;
  });
  return names.join(sep);
}
