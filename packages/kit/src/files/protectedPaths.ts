/** A place whose files start programs, or decide what may be done, without anybody asking. */
export interface ProtectedPath {
  /** In the syntax of a rule's path pattern. */
  readonly pattern: string;
  readonly why: string;
  /** The part that a sandbox keeps from being written, if commands need the rest. Default: the pattern itself. */
  readonly inSandbox?: readonly string[] | undefined;
}

const of = (why: string, patterns: string): ProtectedPath[] =>
  patterns
    .trim()
    .split(/\s+/)
    .map((pattern) => (pattern in parts ? { pattern, why, inSandbox: parts[pattern] } : { pattern, why }));

/** The index, objects and refs of git are written by most of its commands, and installed packages by package managers. */
const parts: Readonly<Record<string, readonly string[]>> = {
  // The sandbox finds repositories by what they hold.
  ".git": [],
  ".yarn/": ["**/.yarn/releases/", "**/.yarn/plugins/"],
  ".pnp.*": [],
};

/**
 * Paths that tools and commands should not write without a question. On this list: files that make a program start, or change which one
 * does, when the user next opens the folder, opens a shell or uses a usual tool there; what decides about permissions; and what agents read
 * as instructions. Not on it: what runs only when it is asked for (scripts, sources, `package.json`).
 */
export const protectedPaths: readonly ProtectedPath[] = Object.freeze([
  ...of("git runs hooks and programs that are named there", ".git .gitconfig .gitmodules .githooks/"),
  ...of("hg runs hooks and programs that are named there", "**/.hg/hgrc .hgrc"),
  ...of(
    "it holds hooks that git runs",
    ".husky/ .huskyrc* lefthook.* lefthook-local.* .lefthook.* .lefthook-local.* .pre-commit-config.yaml prek.toml",
  ),
  ...of("it names programs that are started as servers of tools", ".mcp.json"),
  ...of("it is read when a shell enters the folder", ".envrc"),
  ...of(
    "an editor runs what it says",
    `.vscode/ .idea/ .devcontainer/ .devcontainer.json *.code-workspace .zed/ .fleet/ .helix/ .exrc .vimrc .gvimrc .nvimrc .nvim.lua
    .vim/ .emacs .emacs.d/ .dir-locals.el .dir-locals-2.el`,
  ),
  ...of(
    "a shell reads it when it starts",
    `.profile .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .inputrc .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc
    .mkshrc .cshrc .tcshrc .login .logout Microsoft.PowerShell_profile.ps1 profile.ps1 .xprofile .xinitrc .xsession .xsessionrc
    .pam_environment`,
  ),
  ...of("an interpreter runs it when it starts", ".Rprofile .irbrc"),
  ...of(
    "a package manager or build tool runs what it names",
    ".npmrc .yarnrc .yarnrc.yml .yarn/ .pnp.* .pnpmfile.* bunfig.toml .cargo/ pip.conf .condarc .bazelrc .mvn/",
  ),
  ...of("it decides who may log in, or where", ".ssh/ .gnupg/ .aws/ .kube/ .docker/ .netrc"),
  ...of(
    "it decides what an agent may do",
    `.claude/ .cursor/ .codex/ .gemini/ .opencode/ opencode.json opencode.jsonc .windsurf/ .aider.conf.yml .kiro/ .roo/ .qwen/
    .toolcrib/ .toolcrib.json`,
  ),
  ...of(
    "agents read it as instructions",
    `AGENTS.md AGENTS.override.md AGENT.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md .agents/ .cursorrules .windsurfrules
    .clinerules .roorules .goosehints .junie/ .github/copilot-instructions.md .github/instructions/`,
  ),
  ...of(
    "it runs on another machine, with the secrets of the project",
    `.github/workflows/ .github/actions/ .gitlab-ci.yml .circleci/ .travis.yml .drone.yml .woodpecker.yml .woodpecker/ .cirrus.yml
    .appveyor.yml appveyor.yml azure-pipelines.yml bitbucket-pipelines.yml Jenkinsfile .buildkite/ .semaphore/ .teamcity/
    .forgejo/workflows/ .gitea/workflows/`,
  ),
  ...of("programs of the user are started from there", "~/.config/ ~/.local/bin/ ~/bin/ ~/Library/LaunchAgents/"),
]);
