import type { ReadOnlyProgram } from "./readOnlyTable.ts";

const format =
  "--oneline --pretty=? --format= --abbrev=? --abbrev-commit --no-abbrev --no-abbrev-commit --decorate=? --no-decorate --date= --relative-date --color=? --no-color --graph --stat=? --shortstat --numstat --dirstat=? --summary --name-only --name-status --no-notes --no-patch -s --parents --children --left-right --no-ext-diff --no-textconv -z";

const diff =
  "-p -u --patch -U= --unified= --raw --patch-with-stat --patch-with-raw --minimal --patience --histogram --diff-algorithm= -w --ignore-all-space -b --ignore-space-change --ignore-space-at-eol --ignore-cr-at-eol --ignore-blank-lines -M=? --find-renames=? -C=? --find-copies=? --no-renames --diff-filter= -S= -G= --pickaxe-all --pickaxe-regex --word-diff=? --word-diff-regex= --color-words=? --color-moved=? --check --full-index --binary -R --relative=? -a --text -W --function-context --inter-hunk-context= --exit-code --quiet -q --compact-summary --submodule=? --ignore-submodules=? --src-prefix= --dst-prefix= --no-prefix -m -c --cc --first-parent";

const revisions =
  "-n= --max-count= -# --skip= --since= --after= --until= --before= --author= --committer= --grep= -i --regexp-ignore-case -E --extended-regexp -F --fixed-strings --all --branches=? --tags=? --remotes=? --merges --no-merges --first-parent --reverse --topo-order --date-order --follow --ancestry-path --cherry-pick --cherry --left-only --right-only --simplify-by-decoration --full-history --walk-reflogs -g -L= --not --boundary --all-match --invert-grep --show-pulls";

const list =
  "-l --list -a --all -r --remotes -v --verbose --contains= --no-contains= --merged=? --no-merged=? --sort= --points-at= --format= -i --ignore-case --color=? --no-color --column=? --no-column --abbrev= --no-abbrev -n=?";

/** A subcommand of git. */
export interface ReadOnlyGit extends ReadOnlyProgram {
  /** Options of which operands need one: without it the subcommand would make or change what they name. */
  readonly operandsNeed?: readonly string[];
  /** Words of which one must follow the subcommand, such as `list` of `git stash list`; the empty word is none at all. */
  readonly verbs?: readonly string[];
  /** What each operand must look like. */
  readonly operand?: RegExp;
}

/**
 * Subcommands of git that only read, with the options that keep them so. Their operands are revisions and paths in the repository. What
 * the repository's own configuration runs (a file system monitor, filters, text converters) is trusted: no tool writes `.git` unasked.
 */
export const readOnlyGit: Readonly<Record<string, ReadOnlyGit>> = {
  blame: {
    options: `-L= -l -t -s -e --show-email -w -M=? -C=? -p --porcelain --line-porcelain --root --date= --since= --abbrev= -f --show-name -n --show-number --color-lines --color-by-age --no-progress --ignore-rev=`,
    operands: "data",
  },
  branch: {
    options: `--show-current -vv ${list}`,
    operands: "data",
    // `-l` makes a branch in old versions of git.
    operandsNeed: ["--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"],
  },
  "cat-file": { options: "-p -t -s -e", operands: "data" },
  "check-ignore": { options: "-v --verbose -n --non-matching -q --quiet --no-index", operands: "data" },
  cherry: { options: "-v --abbrev=", operands: "data" },
  // Other keys may hold a password or a token.
  config: {
    operands: "data",
    most: 1,
    verbs: ["--get", "get"],
    operand: /^(?:branch|color|core|diff|init|merge|pull|push|user)\./,
  },
  "count-objects": { options: "-v --verbose -H --human-readable" },
  describe: {
    options:
      "--all --tags --long --always --abbrev= --exact-match --dirty=? --match= --exclude= --first-parent --contains --candidates=",
    operands: "data",
  },
  diff: { options: `--cached --staged --merge-base ${diff} ${format}`, operands: "data" },
  "diff-tree": { options: `-r -t --root --no-commit-id --cc ${diff} ${format}`, operands: "data" },
  "for-each-ref": { options: `--count= ${list}`, operands: "data" },
  grep: {
    options:
      "-e= -i --ignore-case -n --line-number -l --files-with-matches --name-only -L --files-without-match -c --count -w --word-regexp -v --invert-match -h -H -o --only-matching -E --extended-regexp -F --fixed-strings -G --basic-regexp -P --perl-regexp -A= -B= -C= -# --after-context= --before-context= --context= -p --show-function -W --function-context --cached --untracked --and --or --not --all-match -q --quiet --color=? --no-color -a --text -I --max-depth= --heading --break --full-name --column --recurse-submodules -z --null --no-textconv",
    operands: "data",
  },
  log: { options: `${revisions} ${diff} ${format}`, operands: "data" },
  "ls-files": {
    options:
      "-c --cached -d --deleted -m --modified -o --others -i --ignored -s --stage -u --unmerged -k --killed -t -v -z --exclude= -x= --exclude-standard --error-unmatch --full-name --directory --no-empty-directory --eol --abbrev=? --recurse-submodules --deduplicate",
    operands: "data",
  },
  "ls-tree": {
    options:
      "-d -r -t -l --long -z --name-only --name-status --object-only --abbrev=? --full-name --full-tree --format=",
    operands: "data",
  },
  "merge-base": { options: "-a --all --octopus --is-ancestor --independent --fork-point", operands: "data" },
  "name-rev": { options: "--tags --refs= --exclude= --all --name-only --always", operands: "data" },
  reflog: { options: `${revisions} ${format}`, operands: "data", verbs: ["show", ""] },
  remote: { options: "-v --verbose --all --push", operands: "data", verbs: ["get-url", ""] },
  "rev-list": { options: `--count --objects --timestamp ${revisions} ${format}`, operands: "data" },
  "rev-parse": {
    options:
      "--verify -q --quiet --short=? --abbrev-ref=? --symbolic --symbolic-full-name --show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --all --branches=? --tags=? --remotes=? --show-superproject-working-tree --show-object-format --git-path=",
    operands: "data",
  },
  shortlog: {
    options: `-e --email -s --summary --numbered --group= --committer ${revisions} --format=`,
    operands: "data",
  },
  show: { options: `${revisions} ${diff} ${format}`, operands: "data" },
  "show-ref": {
    options: "--head --heads --branches --tags -d --dereference -s --hash=? --verify -q --quiet --abbrev=?",
    operands: "data",
  },
  stash: { options: `${diff} ${format}`, operands: "data", verbs: ["list", "show"] },
  status: {
    options:
      "-s --short -b --branch --show-stash --porcelain=? --long -v --verbose -u=? --untracked-files=? --ignore-submodules=? --ignored=? -z --column=? --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames=?",
    operands: "data",
  },
  tag: {
    // `-v` would run gpg.
    options:
      "-l --list -n=? --contains= --no-contains= --merged=? --no-merged=? --sort= --points-at= --format= -i --ignore-case --color=? --no-color --column=? --no-column",
    operands: "data",
    operandsNeed: ["-l", "--list"],
  },
  whatchanged: { options: `${revisions} ${diff} ${format}`, operands: "data" },
  worktree: { options: "-v --porcelain", verbs: ["list"] },
};
