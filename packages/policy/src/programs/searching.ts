import type { ParsedWords, ProgramRecord, ProgramRecords, Reads } from "./record.ts";

/** Programs that search, compare and show files. */

const grep: ProgramRecord = {
  source: "GNU grep 3.8, src/grep.c",
  reads: {
    options: `-e= --regexp= -f=@ --file=@ -i -y --ignore-case --no-ignore-case -v --invert-match -w --word-regexp -x --line-regexp -c
      --count --color=? --colour=? -L --files-without-match -l --files-with-matches -m= --max-count= -o --only-matching -q --quiet
      --silent -s --no-messages -b --byte-offset -H --with-filename -h --no-filename --label= -n --line-number -T --initial-tab -Z
      --null -A= --after-context= -B= --before-context= -C= --context= --group-separator= --no-group-separator -# -a --text -I
      -U --binary --binary-files= -d= --directories= -D= --devices= -r --recursive --include= --exclude= --exclude-dir=
      --exclude-from=@ -E --extended-regexp -F --fixed-strings -G --basic-regexp -P --perl-regexp -z --null-data --line-buffered`,
    operands: "paths",
    data: 1,
    insteadOfData: "-e --regexp -f --file",
    contents: "-r --recursive -d --directories",
  },
  beyond: { does: "read", below: "all", folder: 2, only: "-R --dereference-recursive", followsLinks: true },
  versionOptions: "--version -V",
};

/** Words of a jq filter that read other files or the environment. A digit before a word is a token of its own. */
const readsMore =
  /(?<![A-Za-z_])(?:import|include|env|ENV|modulemeta|get_search_list|input_filename|__prog\w*)(?![A-Za-z0-9_])/;

function interpretJq(words: readonly string[], { unknown, operands, paths }: ParsedWords): Reads | string {
  const [at] = unknown;
  if (at !== undefined) return `${words[at]} is not among the options of jq that are known to only read.`;
  const [filter = ".", ...files] = operands;
  return readsMore.test(filter) ? "Its filter reads other files or the environment." : { paths: [...paths, ...files] };
}

/** Addresses of lines and `p`, or nothing: `1,20p`, `$p`, `/from/,/to/p`. What a bracket or a backslash in a pattern hides is not read. */
const printsLines = /^(?:(?:\d+(?:~\d+)?|\$|\/[^/\\[\]]*\/)(?:,(?:[+~]?\d+|\$|\/[^/\\[\]]*\/))?)?p$|^$/;

/** A command of sed, behind addresses, that runs its lines or writes to a file whose name begins right behind it: `e`, `s/x/y/e`, `w.env`. */
const runsOrWrites =
  /(?:^|[;{}\n])\s*(?:(?:\d+|\$|\/[^/]*\/)\s*,?\s*){0,2}!?\s*(?:e(?:\s|$)|w\S|s(.)(?:\\.|(?!\1)[^\\])*\1(?:\\.|(?!\1)[^\\])*\1[\dgpiImM]*(?:e|w\S))/s;

function interpretSed(words: readonly string[], { unknown, operands, names, values }: ParsedWords): Reads | string {
  const [at] = unknown;
  if (at !== undefined) return `${words[at]} is not among the options of sed that are known to only read.`;
  const hasOption = names.some((name) => name === "-e" || name === "--expression");
  const scripts = hasOption ? values : operands.slice(0, 1);
  const isQuiet = names.some((name) => ["-n", "--quiet", "--silent"].includes(name));
  const commands = scripts.flatMap((script) => script.split(/[;\n]/));
  if (!isQuiet || scripts.length === 0 || !commands.every((one) => printsLines.test(one.trim())))
    return "Its script does more than print lines by their addresses.";
  return { paths: hasOption ? operands : operands.slice(1) };
}

/**
 * `find` without actions but printing. It reads one word after another: options before the start folders, then the expression, and each
 * test takes the next word, whatever that looks like.
 */
const find: ProgramRecord = {
  source: "GNU findutils 4.9.0, find/parser.c, find/util.c (process_leading_options)",
  style: "words",
  reads: {
    options: `-P -O0 -O1 -O2 -O3
      -empty -readable -writable -executable -true -false -nouser -nogroup -prune -quit -print -print0 -ls
      -not ! -a -and -o -or ( ) ,
      -xdev -mount -depth -d -daystart -noleaf -ignore_readdir_race -noignore_readdir_race -nowarn -warn
      -name= -iname= -path= -ipath= -wholename= -iwholename= -regex= -iregex= -regextype= -lname= -ilname=
      -type= -xtype= -maxdepth= -mindepth= -size= -perm= -user= -group= -uid= -gid= -links= -inum= -fstype= -used=
      -mtime= -mmin= -atime= -amin= -ctime= -cmin= -newermt= -newerat= -newerct= -printf=
      -newer=@ -anewer=@ -cnewer=@ -samefile=@`,
    operands: "paths",
  },
  starts: { actions: "-exec -execdir -ok -okdir" },
  beyond: {
    does: "delete",
    below: "all",
    folder: 1,
    only: "-delete",
    named: "-name -iname",
    unless: "-path -ipath -wholename -iwholename -regex -iregex",
  },
};

export const searching: ProgramRecords = {
  "grep egrep fgrep": grep,
  find,
  cmp: {
    source: "GNU diffutils 3.8, src/cmp.c",
    reads: {
      options: "-b --print-bytes -l --verbose -s --quiet --silent -n= --bytes= -i= --ignore-initial=",
      operands: "paths",
      most: 2,
    },
  },
  column: {
    source: "util-linux 2.38, text-utils/column.c",
    reads: {
      options:
        "-t --table -s= --separator= -o= --output-separator= -c= --output-width= -x --fillrows -N= --table-columns= -J --json",
      operands: "paths",
    },
  },
  // In a folder it follows links.
  diff: {
    source: "GNU diffutils 3.8, src/diff.c",
    reads: {
      options: `-q --brief -s --report-identical-files -c -C= --context=? -u -U= --unified=? -e --ed -n --rcs -y --side-by-side
        -W= --width= -p --show-c-function -F= --show-function-line= -T --initial-tab -t --expand-tabs --tabsize= -r --recursive
        --no-dereference -N --new-file --unidirectional-new-file -x= --exclude= -S= --starting-file= -i --ignore-case
        --ignore-file-name-case -E --ignore-tab-expansion -Z --ignore-trailing-space -b --ignore-space-change -w --ignore-all-space
        -B --ignore-blank-lines -I= --ignore-matching-lines= -a --text --strip-trailing-cr --color=? --palette= -d --minimal
        --suppress-common-lines --suppress-blank-empty --normal --left-column --speed-large-files --horizon-lines= -D= --ifdef=
        --label= -X=@ --exclude-from=@`,
      operands: "paths",
      most: 2,
      contents: true,
    },
  },
  // Not `-f`, which reads names from a file, nor `-C`, `-m`, `-z` and `-Z`.
  file: {
    source: "file 5.44, src/file.c, src/file_opts.h",
    reads: {
      options: `-b --brief -e= --exclude= --exclude-quiet= --extension -F= --separator= -h --no-dereference -i --mime --apple
        --mime-type --mime-encoding -k --keep-going -l --list -L --dereference -n --no-buffer -N --no-pad -0 --print0
        -P= --parameter= -r --raw -s --special-files`,
      operands: "paths",
    },
  },
  hexdump: {
    source: "util-linux 2.38, text-utils/hexdump.c",
    reads: { options: "-b -c -C --canonical -d -n= --length= -o -s= --skip= -v --no-squeezing -x", operands: "paths" },
  },
  // Not `-f` and `-L`.
  jq: {
    source: "jq 1.6, src/main.c",
    style: "letters",
    reads: {
      options: `-r --raw-output -c --compact-output -n --null-input -s --slurp -S --sort-keys -e --exit-status -C --color-output
        -M --monochrome-output -a --ascii-output -j --join-output --tab --indent= -R --raw-input --seq --stream --unbuffered
        --arg=, --argjson=, --slurpfile=,@ --rawfile=,@ --args --jsonargs`,
      operands: "paths",
      interpret: interpretJq,
    },
    versionOptions: "--version -V",
  },
  rev: { source: "util-linux 2.38, text-utils/rev.c", reads: { operands: "paths" } },
  rg: {
    source: "ripgrep 13.0.0, crates/core/app.rs",
    reads: {
      options: `-A= --after-context= -B= --before-context= -C= --context= --context-separator= --color= --colors= --column -c --count
        --count-matches --crlf -E= --encoding= -e= --regexp= -F --fixed-strings --files -l --files-with-matches
        --files-without-match -f=@ --file=@ -g= --glob= --glob-case-insensitive --iglob= --heading --no-heading --hidden -.
        -i --ignore-case --ignore-file=@ --ignore-file-case-insensitive -v --invert-match --json --line-buffered -n --line-number
        -N --no-line-number -x --line-regexp -M= --max-columns= --max-columns-preview -m= --max-count= --max-depth= --max-filesize=
        -U --multiline --multiline-dotall --no-config --no-ignore --no-ignore-dot --no-ignore-exclude --no-ignore-global
        --no-ignore-parent --no-ignore-vcs --no-messages --no-unicode -0 --null -o --only-matching --one-file-system --passthru --passthrough
        -P --pcre2 -p --pretty -q --quiet -r= --replace= -S --smart-case -s --case-sensitive --sort= --sortr= --stats -a --text
        -j= --threads= --trim -t= --type= -T= --type-not= --type-list -u --unrestricted --vimgrep -H --with-filename -I --no-filename
        -w --word-regexp`,
      operands: "paths",
      data: 1,
      insteadOfData: "-e --regexp -f --file --files --type-list",
      contents: true,
    },
    beyond: { does: "read", below: "all", folder: 2, only: "-L --follow", followsLinks: true },
    versionOptions: "--version -V",
  },
  // A language: `-n` with addresses and `p` is all that is read of it.
  sed: {
    source: "GNU sed 4.9, sed/sed.c, sed/compile.c",
    reads: {
      options: "-n --quiet --silent -E -r --regexp-extended -u --unbuffered -z --null-data -e= --expression=",
      operands: "paths",
      interpret: interpretSed,
    },
    covers: "nothing",
    beyond: { does: "read write delete", script: runsOrWrites },
    keeps: /^(?:-[A-Za-z]*?i|--in-place=)(.+)$/s,
    same: "-i= --in-place=, -n --silent --quiet, -E -r --regexp-extended, -s --separate, -f= --file=",
  },
  // Not `-o`, `-R`, `-l`, `--fromfile` and its kin, `--info` and `--gitfile`.
  tree: {
    source: "tree 2.1.0, tree.c",
    style: "letters",
    reads: {
      options: `-a -d -f -i -x -L= -P= -I= --gitignore --ignore-case --matchdirs --noreport --prune --filelimit= --charset= --timefmt=
        -q -N -Q -p -u -g -s -h -D -F -v -t -c -U -r -A -S -n -C -X -J --si --du --inodes --device --dirsfirst --filesfirst --sort=`,
      operands: "paths",
    },
  },
  // Ones that read too, whose parsers were not read.
  "fd fdfind": {
    covers: {
      options:
        "-e= --extension= -t= --type= -H --hidden -I --no-ignore -i -s -g --glob -a -l -d= --max-depth= -E= --exclude= -F -p -0 -u -1 -q",
    },
  },
  iconv: { covers: { options: "-f= -t= -c -l -s --from-code= --to-code= --list" } },
  // Its expression may load any file.
  yq: { covers: "nothing" },
  "ack ag": {
    covers: { options: "-i -l -c -w -n -v -Q -A= -B= -C= --ignore-dir= --type=" },
    beyond: { does: "read", below: "all", folder: 2 },
  },
};
