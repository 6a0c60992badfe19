/** Options of git that only read, by where git parses them. An option that git takes attached alone is written so. */

/** revision.c and pretty.c: how commits are printed. */
export const format = `--oneline --pretty=? --format=? --abbrev=? --abbrev-commit --no-abbrev --no-abbrev-commit --date= --relative-date --encoding=
  --expand-tabs=? --no-expand-tabs --graph --no-graph --notes=? --no-notes --parents --children --left-right --log-size --show-linear-break=? -z`;

/** builtin/log.c. */
export const logging = `--decorate=? --no-decorate --decorate-refs= --decorate-refs-exclude= --clear-decorations --source --mailmap --use-mailmap
  --no-mailmap -L=`;

/** diff.c: what of a change is printed without its lines. */
export const summary = `--raw --stat=? --stat-width= --stat-name-width= --stat-graph-width= --stat-count= --compact-summary --shortstat
  --numstat -X=? --dirstat=? --dirstat-by-file=? --cumulative --summary --name-only --name-status -s --no-patch --color=? --no-color
  --no-ext-diff --no-textconv --minimal --patience --histogram --diff-algorithm= --anchored= --indent-heuristic --no-indent-heuristic
  -w --ignore-all-space -b --ignore-space-change --ignore-space-at-eol --ignore-cr-at-eol --ignore-blank-lines -I= --ignore-matching-lines=
  -B=? --break-rewrites=? -M=? --find-renames=? -C=? --find-copies=? --find-copies-harder --no-renames --rename-empty --no-rename-empty
  -D --irreversible-delete -l= --diff-filter= -S= -G= --find-object= --pickaxe-all --pickaxe-regex --rotate-to= --skip-to= -R --relative=?
  --no-relative -a --text --exit-code -q --quiet --submodule=short|log --ignore-submodules=? --src-prefix= --dst-prefix= --no-prefix
  --line-prefix= --output-indicator-new= --output-indicator-old= --output-indicator-context= --color-moved-ws=
  --ws-error-highlight= --full-index -m --first-parent`;

/** diff.c and revision.c: what prints the lines of files. Not `--remerge-diff`, which writes objects. */
export const patch = `-p -u --patch -U=? --unified=? --patch-with-stat --patch-with-raw --binary --word-diff=? --word-diff-regex=
  --color-words=? --color-moved=? --check -W --function-context --inter-hunk-context= -c --cc --combined-all-paths
  --diff-merges=off|none|on|m|first-parent|1|separate|combined|c|dense-combined|cc`;
/** The same by their names. */
export const patchNames: string = patch.replace(/=\S*/g, "");

/** revision.c: which commits. */
export const revisions = `-n= --max-count= -# --skip= --since= --after= --until= --before= --author= --committer= --grep= --grep-reflog= -i
  --regexp-ignore-case -E --extended-regexp -F --fixed-strings -P --perl-regexp --basic-regexp --all --branches=? --tags=? --remotes=?
  --glob= --exclude= --reflog --merges --no-merges --min-parents=? --max-parents=? --first-parent --reverse --topo-order --date-order
  --author-date-order --follow --ancestry-path=? --cherry-pick --cherry-mark --cherry --left-only --right-only --simplify-by-decoration
  --simplify-merges --full-history --dense --sparse --remove-empty --full-diff --walk-reflogs -g --no-walk=? --do-walk --not --boundary
  --all-match --invert-grep --show-pulls --merge --bisect --ignore-missing`;

/** ref-filter.c: which branches and tags. */
export const refs = `--contains= --no-contains= --merged=? --no-merged=? --sort= --points-at= --format= --ignore-case --color=?
  --no-color`;

/** builtin/fetch.c, builtin/push.c. */
export const transfer = `-q --quiet -v --verbose --progress --no-progress -4 --ipv4 -6 --ipv6 -n --dry-run -f --force -p --prune -t --tags --no-tags
  --all -a --append --depth= --deepen= --unshallow --atomic -j= --jobs= --no-verify --porcelain --shallow-since=`;
/** Not `subtree`, which puts all that it brings in another folder. */
const strategies = "ours|theirs|patience|histogram|ignore-space-change|ignore-all-space|renormalize|no-renames";
/** builtin/merge.c. */
export const merging: string = `-q --quiet -v --verbose --abort --skip --quit --continue -n --no-commit --commit --no-edit --stat --no-stat --ff --no-ff
  --ff-only --squash --no-squash -X=${strategies} --strategy-option=${strategies} --signoff --allow-unrelated-histories --autostash --no-autostash`;
