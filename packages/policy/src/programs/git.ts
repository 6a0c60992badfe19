import { format, logging, merging, patch, patchNames, refs, revisions, summary, transfer } from "./gitOptions.ts";
import { changing, placing, reading, restoring, stashing } from "./gitSubcommands.ts";
import type { Beyond, ProgramRecord } from "./record.ts";

/** It writes what files say into another file. */
const exported: Beyond = { does: "read", below: "all", folder: Infinity, partly: "history" };

/** No name of a folder that begins with a dot, which may be a protected one, or hold one. */
const notHidden = /^(?![A-Za-z0-9+.-]+::)(?!(?:.*[/:])?\.[^/:]*\/*$)/s;

const nothing: ProgramRecord = { covers: "nothing" };

/** A repository far away: a path may be one whose hooks would run. */
const address = /^(?:https?:\/\/\S+|ssh:\/\/\w\S*|git@[\w.-]+:[\w.~/-]+)$/;
/** The same, or a remote by its usual name. */
const first = new RegExp(`^(?:origin|upstream)$|${address.source}`);

const commits = `${revisions} ${summary} ${patch} ${format} ${logging}`;
/** The searches in changes too: they tell by and by what a file says. */
const prints = `${patchNames} -L -G -S`;
/**
 * git. What the configuration of its repository runs (a file system monitor, filters, text converters) is trusted where the user chose the
 * repository: no tool writes `.git` unasked. Abbreviations of long options, aliases and commands that are not listed are asked about.
 */
export const git: ProgramRecord = {
  source: "git 2.39.5, git.c, parse-options.c, revision.c, diff.c, builtin/*.c",
  style: "undashed",
  repository: true,
  // A format or an order with the state of signatures, for which git runs gpg, and a format with what a tagged file holds.
  asked: /^--(?:format|pretty)=.*%[-+ ]?G|%\(\*?(?:signature|raw)|^(?:--sort=)?[-*]*signature(?::\w+)?$/s,
  versionOptions: "--version -v version",
  before: "--no-pager --no-optional-locks -P",
  same: "stage add, -C=, -c=, --git-dir=, --work-tree=, --namespace=",
  commands: {
    // Reading.
    "annotate blame": reading(
      `-L= -l -t -s -e --show-email -w -b -c -f --show-name -n --show-number -p --porcelain --line-porcelain --incremental --root
      --show-stats --score-debug -M=? -C=? --minimal --ignore-rev= --date= --since= --abbrev=? --color-lines --color-by-age
      --no-progress --first-parent --reverse`,
    ),
    branch: {
      ...reading(
        // `-l` makes a branch in old versions of git.
        `--show-current -l --list -a --all -r --remotes -v --verbose -q --quiet --abbrev=? --no-abbrev -i --column=? --no-column ${refs}`,
        { operandsNeed: "--list --contains --no-contains --merged --no-merged --points-at" },
        {
          options:
            "-d -D --delete -m -M --move -c -C --copy -f --force -u= --set-upstream-to= --unset-upstream -t --track=? --no-track",
        },
      ),
      same: `-d --delete, -m --move, -c --copy, -D --delete&--force, -M --move&--force, -C --copy&--force, -u= --set-upstream-to=, -t= --track=`,
    },
    "cat-file": reading("-p -t -s -e", { contents: true }),
    "check-attr": reading("-a --all --cached --stdin -z"),
    "check-ignore": reading("-v --verbose -n --non-matching -q --quiet --no-index --stdin -z"),
    cherry: reading("-v --verbose --abbrev=?"),
    // Other keys may hold a password or a token. A change of the configuration may run anything.
    config: {
      commands: {
        "--get get": reading("", { most: 1, operand: /^(?:branch|color|core|diff|init|merge|pull|push|user)\./ }),
        "set edit --add --edit -e --global --system --file -f --replace-all": nothing,
      },
    },
    "count-objects": { reads: { options: "-v --verbose -H --human-readable" } },
    describe: reading(
      `--all --tags --long --always --abbrev=? --exact-match --dirty=? --broken=? --match= --exclude= --first-parent --contains
      --candidates=`,
    ),
    // Outside a repository it compares two files.
    diff: reading(`--cached --staged --merge-base --base --ours --theirs ${summary} ${patch} ${format}`, {
      operands: "paths",
      contents: true,
    }),
    "diff-index diff-files": reading(`--cached ${summary} ${patch} ${format}`, { contents: true }),
    "diff-tree": reading(`-r -t --root --no-commit-id --merge-base ${summary} ${patch} ${format}`, { contents: true }),
    "for-each-ref": reading(`--count= ${refs}`),
    grep: reading(
      `-e= -i --ignore-case -n --line-number -l --files-with-matches --name-only -L --files-without-match -c --count -w --word-regexp -v
      --invert-match -h -H -o --only-matching -E --extended-regexp -F --fixed-strings -G --basic-regexp -P --perl-regexp -A= -B= -C= -#
      --after-context= --before-context= --context= -p --show-function -W --function-context --cached --untracked --exclude-standard
      --and --or --not --all-match -q --quiet --color=? --no-color -a --text -I -r --recursive --max-depth= -m= --max-count= --heading
      --break --full-name --column -z --null --no-textconv --threads= --recurse-submodules`,
      { contents: true },
    ),
    "log whatchanged": reading(commits, { contents: prints }),
    "ls-files": reading(
      `-c --cached -d --deleted -m --modified -o --others -i --ignored -s --stage -u --unmerged -k --killed -t -v -f -z --exclude= -x=
      --exclude-standard --error-unmatch --full-name --directory --no-empty-directory --eol --abbrev=? --recurse-submodules
      --deduplicate --format=`,
    ),
    "ls-tree": reading(
      "-d -r -t -l --long -z --name-only --name-status --object-only --abbrev=? --full-name --full-tree --format=",
    ),
    "merge-base": reading("-a --all --octopus --is-ancestor --independent --fork-point"),
    "name-rev": reading(
      "--tags --refs= --exclude= --all --name-only --always --undefined --no-undefined --annotate-stdin",
    ),
    reflog: {
      commands: {
        "": { reads: { options: commits, contents: prints } },
        show: reading(commits, { contents: prints }),
      },
    },
    remote: {
      commands: {
        "": { reads: { options: "-v --verbose" } },
        "get-url": reading("--all --push"),
        "remove rename rm prune": changing("-n --dry-run"),
      },
    },
    "rev-list": reading(`--count --objects --timestamp --disk-usage=? ${revisions} ${format}`),
    "rev-parse": reading(
      `--verify -q --quiet --short=? --abbrev-ref=? --symbolic --symbolic-full-name --show-toplevel --show-prefix --show-cdup --git-dir
      --absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --all
      --branches=? --tags=? --remotes=? --show-superproject-working-tree --show-object-format --git-path=`,
    ),
    shortlog: reading(
      `-e --email -s --summary -n --numbered -c --committer --group= -w=? ${revisions.replace(/-n= |--(?:committer|glob|exclude)= /g, "")} --format=? --date=`,
    ),
    show: reading(commits, { contents: true }),
    "show-branch": reading(
      "-a --all -r --remotes --list --sha1-name --no-name --current --topo-order --date-order --sparse --topics --more=? --color=? --no-color",
    ),
    "show-ref": reading("--head --heads --tags -d --dereference -s --hash=? --verify -q --quiet --abbrev=?"),
    status: reading(
      `-s --short -b --branch --show-stash --porcelain=? --long -v --verbose -u=? --untracked-files=? --ignore-submodules=? --ignored=?
      -z --column=? --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames=?`,
      { contents: "-v --verbose" },
    ),
    tag: reading(
      // `-v` would run gpg.
      `-l --list -n=? -i --column=? --no-column ${refs}`,
      { operandsNeed: "-l --list" },
      { options: "-a --annotate -m= --message= -F=@ --file=@ -d --delete -f --force --cleanup= --create-reflog" },
    ),
    var: reading("", { operand: /^GIT_(?:AUTHOR_IDENT|COMMITTER_IDENT|DEFAULT_BRANCH)$/ }),

    // These run programs named in their words, in a file or in the configuration.
    [`daemon fast-import filter-branch for-each-repo gui hook instaweb maintenance merge-file merge-index merge-one-file mergetool p4 remote-ext
      remote-fd request-pull send-email shell svn upload-pack receive-pack verify-commit verify-tag`.replace(
      /\s+/g,
      " ",
    )]: nothing,

    // Changing.
    add: {
      ...changing(
        "-A --all -u --update -n --dry-run -v --verbose -f --force -N --intent-to-add --ignore-errors --ignore-missing --renormalize --chmod=",
      ),
      beyond: { does: "read", below: "all", folder: 1, partly: "-f --force" },
      same: "-p --patch, -i --interactive, -e --edit",
    },
    // A patch may hold any path of the tree, and copy from any; also from the standard input.
    "am apply": { covers: "input", beyond: { does: "bring write" } },
    archive: {
      ...changing("--format= --prefix= -l --list -v --verbose -# --worktree-attributes"),
      beyond: exported,
    },
    bisect: {
      commands: {
        "replay run view visualize": nothing,
        "start good bad new old skip reset log terms next": placing("--no-checkout --first-parent"),
      },
    },
    checkout: restoring(
      `-b= -B= -f --force -q --quiet --detach -d -t --track=? --no-track --ours --theirs -m --merge --orphan= --overlay --no-overlay
      --progress --no-progress --guess --no-guess -2 -3`,
      { without: "-b -B --orphan" },
    ),
    "cherry-pick revert": placing(`-x -s -m= --mainline= --allow-empty --keep-redundant-commits ${merging}`),
    clean: {
      ...changing("-n --dry-run -f --force -d -x -X -q --quiet -e= --exclude="),
      beyond: { does: "delete", below: "all", folder: 1, only: "-f --force", partly: true },
    },
    clone: {
      ...placing(
        `${transfer} -b= --branch= --single-branch --no-single-branch -o= --origin= --bare --mirror --filter= --sparse --no-checkout`,
        { first: address, word: notHidden },
      ),
      beyond: [{ does: "bring" }, { does: "read", below: "sources", partly: "history" }],
      same: "-n --no-checkout, -c= --config=, -u= --upload-pack=, -l --local, -s --shared",
    },
    commit: {
      ...changing(
        `-m= --message= -a --all --amend --no-edit -q --quiet -v --verbose -s --signoff --no-signoff -n --no-verify --allow-empty
      --allow-empty-message --author= --date= --fixup= --squash= -C= --reuse-message= --reset-author --dry-run -o --only -i --include -u=?
      --untracked-files=? --no-gpg-sign --porcelain --short --branch --long --status --no-status --trailer= --cleanup= -F=@ --file=@`,
      ),
      beyond: { ...exported, only: "-p --patch -v --verbose --dry-run" },
      same: "-S= --gpg-sign=, -p --patch, -e --edit, -c= --reedit-message=, -t= --template=",
    },
    fetch: {
      ...changing(`${transfer} --prune-tags --recurse-submodules=? --no-recurse-submodules --set-upstream`, { first }),
      same: "-n --no-tags, -P --prune-tags, -u --update-head-ok, -k --keep, +* -f --force",
    },
    bundle: { covers: "nothing", beyond: exported },
    "format-patch": {
      ...changing(
        "-n --numbered -N --no-numbered -# --stdout --cover-letter --subject-prefix= -v= --reroll-count= -k --keep-subject --start-number= --no-signature -s --signoff --root --base= --thread=? --no-thread",
      ),
      beyond: exported,
    },
    gc: changing("--auto --prune=? --no-prune -q --quiet --aggressive --force"),
    init: changing("-q --quiet --bare -b= --initial-branch="),
    "hash-object update-index": { beyond: { does: "read", only: "--stdin --stdin-paths" } },
    "checkout-index": { beyond: [{ does: "write delete" }, exported] },
    "read-tree": { beyond: { does: "write delete" } },
    "difftool fast-export": { covers: "nothing", beyond: exported },
    "ls-remote": changing("-h --heads -t --tags --refs -q --quiet --exit-code --get-url --sort= --symref", { first }),
    merge: { ...placing(`-m= ${merging}`), same: "-n --no-stat, -s= --strategy=, -F= --file=, -S= --gpg-sign=" },
    mv: {
      ...changing("-v --verbose -n --dry-run -f --force -k"),
      beyond: { does: "put bring read delete", below: "sources" },
    },
    notes: { commands: { "list show": reading(""), "add append": changing("-m= -f --force"), "": { reads: {} } } },
    prune: changing("-n --dry-run -v --verbose --progress --expire="),
    pull: {
      ...placing(`${transfer} ${merging} --rebase=? --no-rebase -r=? --set-upstream`, { first }),
      same: "-n --no-stat, -r= --rebase=, -s= --strategy=, +* -f --force",
    },
    push: {
      ...changing(
        `${transfer} -u --set-upstream -d --delete --force-with-lease=? --follow-tags --mirror --no-force-with-lease --thin --signed=no|false`,
        { first },
      ),
      same: "+* -f --force, :* -d --delete, -o= --push-option=",
    },
    rebase: {
      ...placing(
        `--onto= --keep-base --root --fork-point --no-fork-point --autosquash --no-autosquash -r=? --rebase-merges=? --update-refs --no-update-refs --reapply-cherry-picks -f --force-rebase --no-verify ${merging}`,
      ),
      same: "-n --no-stat, -i --interactive, -x= --exec=, -s= --strategy=, -S= --gpg-sign=",
    },
    reset: restoring("--soft --mixed --hard --merge --keep -q --quiet -N --intent-to-add", {
      only: "--hard --merge --keep",
    }),
    restore: restoring(
      "-s= --source= -S --staged -W --worktree --ours --theirs -q --quiet -m --merge --overlay --no-overlay --progress --no-progress",
    ),
    rm: {
      ...changing("-r -f --force --cached -q --quiet -n --dry-run --ignore-unmatch"),
      beyond: [
        { does: "delete", below: "all" },
        { does: "delete", only: "--pathspec-from-file" },
      ],
    },
    stash: {
      commands: {
        "": stashing(""),
        list: reading(commits, { contents: prints }),
        show: reading(`-u --include-untracked --only-untracked ${summary} ${patch} ${format}`, {
          contents: prints,
        }),
        "push save": stashing("-m= --message="),
        "apply pop": restoring("--index -q --quiet"),
        "branch clear create drop": placing("--index -q --quiet"),
      },
    },
    submodule: {
      commands: {
        "add foreach set-url update": nothing,
        status: changing("--cached --recursive"),
        "deinit init summary sync": changing("-f --force --all --recursive -q --quiet -n="),
      },
    },
    switch: {
      ...placing(
        `-c= --create= -C= --force-create= -d --detach -f --force --discard-changes --orphan= -t --track=? --no-track --guess --no-guess -q
      --quiet -m --merge --progress --no-progress`,
      ),
      same: "-f --discard-changes --force",
    },
    worktree: {
      commands: {
        add: { ...nothing, beyond: exported },
        list: { reads: { options: "-v --verbose --porcelain -z" } },
        "lock prune unlock": changing("-f --force -n --dry-run -v --verbose --reason="),
        remove: { ...changing("-f --force"), beyond: { does: "delete", below: "all" } },
        move: { ...changing("-f --force"), beyond: { does: "put bring read", below: "sources" } },
      },
    },
  },
};
