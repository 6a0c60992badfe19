import { isSecret } from "@toolcrib/kit/text";

/** Holds the marks of the calls that a process runs under, the innermost last. */
const markVariable = "TOOLCRIB_CALLS";

/** The choice to remove secrets from the environment of commands; `keep` names variables that stay. */
export type ScrubEnv = boolean | { readonly keep?: readonly string[] | undefined };

/** Returns the environment of a command: the process's variables (without secrets, if asked), ours, the caller's own, the mark. */
export function childEnvironment(
  own: Readonly<Record<string, string>>,
  mark: string,
  scrub: ScrubEnv,
): Record<string, string | undefined> {
  const outer = process.env[markVariable];
  return {
    ...(scrub ? withoutSecrets(inherited(), typeof scrub === "object" ? (scrub.keep ?? []) : []) : inherited()),
    ...noQuestions,
    AI_AGENT: "toolcrib",
    ...own,
    [markVariable]: outer ? `${outer} ${mark}` : mark,
  };
}

/** Returns a copy of `process.env`. Spreading it would be slower: that reads each variable several times. */
function inherited(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.getOwnPropertyNames(process.env).map((name) => [name, process.env[name]]));
}

function withoutSecrets(environment: NodeJS.ProcessEnv, keep: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(environment).filter(([name, value]) => keep.includes(name) || !isSecret(name, value ?? "")),
  );
}

/*
 * Variables that make programs fail where they would wait for a person. The others need none: npm, docker, sudo and apt's own question
 * read standard input, which is closed, or the terminal, which commands do not have.
 */

/** Returns what to do where git has begun something that goes on with a message. */
function continuing(verb: string): string {
  return `GIT_EDITOR=true git ${verb} --continue keeps the message as it is; git commit takes -m or --no-edit`;
}

/** The commands of git that ask for a message, by what then lies beside it. */
const begun = {
  "rebase-merge": "rebase",
  "rebase-apply": "rebase",
  MERGE_HEAD: "merge",
  CHERRY_PICK_HEAD: "cherry-pick",
  REVERT_HEAD: "revert",
};
const ifBegun = Object.entries(begun).map(
  ([name, verb]) => `if [ -e "\${0%/*}/${name}" ]; then set "${continuing(verb)}"; el`,
);

/** A shell script that says what to do by the file that was to be edited, `$0`, and fails. */
const advise = `case $0 in ${[
  '*/git-rebase-todo) set "name a command that writes the list in GIT_SEQUENCE_EDITOR; true takes the list as it is"',
  '*/TAG_EDITMSG) set "give the text by an option (git tag -m)"',
  '*/NOTES_EDITMSG) set "give the text by an option (git notes add -m)"',
  `*/*_*MSG) ${ifBegun.join("")}se set "give the text by an option (git commit -m, --no-edit), or name a command in GIT_EDITOR"; fi`,
  '*) set "give the text by an option of the program, or write the file by other means"',
].join(";; ")};; esac; echo "There is no editor here: $1" >&2; exit 1`;

/** Short, as git quotes it when it fails. Quoted so that programs with and without a shell can run it. */
const noEditor = `sh -c 'eval "$TOOLCRIB_NO_EDITOR"'`;

/** Stands in for the user's own configuration, so it reads that first. A build without expressions skips all of it. */
const noVim = [
  "if 1",
  "for file in has('nvim') ? [stdpath('config') . '/init.vim', stdpath('config') . '/init.lua'] : ['~/.vimrc', '~/.vim/vimrc', '~/.config/vim/vimrc']",
  "if filereadable(expand(file))",
  "let $MYVIMRC = expand(file)",
  "source $MYVIMRC",
  "break",
  "endif",
  "endfor",
  "endif",
  // After the commands of the line. Keys may come through a pipe.
  "silent! autocmd VimEnter * if !has('nvim') && !has('gui_running') && !has('ttyin') && resolve('/proc/self/fd/0') !~ 'pipe:'",
  "call writefile(['There is no terminal for an editor here: write the file by other means, or pass commands (vim -es -c)'], '/dev/stderr')",
  "cquit",
  "endif",
].join(" | ");

interface Row {
  readonly names: readonly string[];
  readonly value: string;
  readonly why: string;
}

const rows: readonly Row[] = [
  { names: ["TOOLCRIB_NO_EDITOR"], value: advise, why: "The next ones run it." },
  {
    names: ["GIT_EDITOR", "EDITOR", "VISUAL", "GH_EDITOR", "KUBE_EDITOR", "SVN_EDITOR", "HGEDITOR"],
    value: noEditor,
    why: "An editor waits for keys. The first of these wins over the user's configuration.",
  },
  {
    names: ["GIT_SEQUENCE_EDITOR"],
    value: noEditor,
    why: "The list of a rebase: an editor that succeeds would perform it as it stands.",
  },
  { names: ["VIMINIT"], value: noVim, why: "At the end of its input vim waits for keys from standard error." },
  { names: ["SUDO_EDITOR", "JJ_EDITOR"], value: noEditor, why: "They win over EDITOR where a user has set them." },
  {
    names: ["PAGER", "GIT_PAGER", "MANPAGER", "GH_PAGER", "SYSTEMD_PAGER", "AWS_PAGER"],
    value: "cat",
    why: "A pager waits for keys; some are started even without a terminal.",
  },
  { names: ["GIT_TERMINAL_PROMPT"], value: "0", why: "Git asks for a name and a password." },
  { names: ["GIT_ASKPASS", "SSH_ASKPASS"], value: "", why: "An editor's terminal sets these: they open a dialog." },
  { names: ["SSH_ASKPASS_REQUIRE"], value: "never", why: "ssh may open a dialog of its own choice." },
  { names: ["GCM_INTERACTIVE"], value: "never", why: "Git's credential manager opens a window." },
  { names: ["PIP_NO_INPUT"], value: "1", why: "pip asks for a password and whether to go on." },
  { names: ["DEBIAN_FRONTEND"], value: "noninteractive", why: "Packages of apt ask about their configuration." },
  { names: ["GH_PROMPT_DISABLED"], value: "1", why: "gh asks for what an option did not say." },
];

/** Variables that commands get in place of the user's own values; those of a call win. */
const noQuestions: Readonly<Record<string, string>> = Object.fromEntries(
  rows.flatMap(({ names, value }) => names.map((name) => [name, value])),
);
