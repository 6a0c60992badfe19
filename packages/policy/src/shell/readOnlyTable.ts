import type { OptionList } from "./options.ts";

/** What a program may be given so that it only reads and prints. */
export interface ReadOnlyProgram {
  /** Its options that keep it so, in the notation of `OptionList`; any other makes the command asked. */
  readonly options?: OptionList;
  /** What its operands are: paths that it reads, or data; none are taken when undefined. */
  readonly operands?: "paths" | "data";
  /** How many operands come first that are data all the same: the pattern of `grep`. */
  readonly data?: number;
  /** The most operands that it may have. */
  readonly most?: number;
  /** Options that take the place of the first operand that is data: `-e PATTERN` of `grep`. */
  readonly insteadOfData?: readonly string[];
}

const grep =
  "-e= --regexp= -i --ignore-case --no-ignore-case -v --invert-match -w --word-regexp -x --line-regexp -c --count --color=? --colour=? -L --files-without-match -l --files-with-matches -m= --max-count= -o --only-matching -q --quiet --silent -s --no-messages -b --byte-offset -H --with-filename -h --no-filename -n --line-number -T --initial-tab -Z --null -A= --after-context= -B= --before-context= -C= --context= -# -a --text -I -U --binary --binary-files= -r --recursive --include= --exclude= --exclude-dir= -E --extended-regexp -F --fixed-strings -G --basic-regexp -P --perl-regexp -z --null-data --exclude-from=@ -f=@ --file=@ -y --line-buffered -d= --directories=";

const checksum = "-b --binary -t --text --tag -z --zero";

/** Programs that only read and print, with the options that keep them so. Git has a table of its own. */
export const readOnlyPrograms: Readonly<Record<string, ReadOnlyProgram>> = {
  ":": { operands: "data" },
  true: { operands: "data" },
  false: { operands: "data" },
  arch: {},
  b2sum: { options: checksum, operands: "paths" },
  base64: { options: "-d --decode -i --ignore-garbage -w= --wrap=", operands: "paths", most: 1 },
  basename: { options: "-a --multiple -s= --suffix= -z --zero", operands: "data" },
  break: { operands: "data" },
  cat: {
    options:
      "-A --show-all -b --number-nonblank -e -E --show-ends -n --number -s --squeeze-blank -t -T --show-tabs -u -v --show-nonprinting",
    operands: "paths",
  },
  cksum: { operands: "paths" },
  cmp: {
    options: "-b --print-bytes -l --verbose -s --quiet --silent -n= --bytes= -i= --ignore-initial=",
    operands: "paths",
    most: 2,
  },
  column: { options: "-t --table -s= --separator= -o= --output-separator= -c= --columns= -x", operands: "paths" },
  comm: {
    options: "-1 -2 -3 --check-order --nocheck-order --total -z --output-delimiter=",
    operands: "paths",
    most: 2,
  },
  continue: { operands: "data" },
  cut: {
    options:
      "-b= --bytes= -c= --characters= -d= --delimiter= -f= --fields= -s --only-delimited --complement -n -z --output-delimiter=",
    operands: "paths",
  },
  df: {
    options:
      "-a --all -B= --block-size= -h --human-readable -H --si -i --inodes -k -l --local -P --portability -T --print-type -t= --type= -x= --exclude-type= --total --output=?",
    operands: "paths",
  },
  diff: {
    options:
      "-q --brief -s --report-identical-files -c -C= --context=? -u -U= --unified=? -e -n -y --side-by-side -W= --width= -p --show-c-function -F= -T -t -N --new-file -x= --exclude= -i --ignore-case -E -Z -b --ignore-space-change -w --ignore-all-space -B --ignore-blank-lines -I= -a --text --strip-trailing-cr --color=? -d --minimal --suppress-common-lines --normal --left-column --speed-large-files --label= -X=@ --exclude-from=@",
    operands: "paths",
    most: 2,
  },
  dirname: { options: "-z --zero", operands: "data" },
  du: {
    options:
      "-0 --null -a --all --apparent-size -b --bytes -B= --block-size= -c --total -d= --max-depth= -h --human-readable -k -m -s --summarize -S --separate-dirs --si -t= --threshold= --time=? --exclude= -x --one-file-system -P --no-dereference -l --count-links --inodes -X=@ --exclude-from=@",
    operands: "paths",
  },
  echo: { operands: "data" },
  egrep: { options: grep, operands: "paths", data: 1, insteadOfData: ["-e", "--regexp", "-f", "--file"] },
  exit: { operands: "data" },
  expand: { options: "-i --initial -t= --tabs=", operands: "paths" },
  expr: { operands: "data" },
  fgrep: { options: grep, operands: "paths", data: 1, insteadOfData: ["-e", "--regexp", "-f", "--file"] },
  file: {
    options: "-b --brief -i --mime --mime-type --mime-encoding -h --no-dereference -0 -n -N --no-pad -F= --separator=",
    operands: "paths",
  },
  fmt: { options: "-w= --width= -s --split-only -u --uniform-spacing", operands: "paths" },
  fold: { options: "-b --bytes -s --spaces -w= --width=", operands: "paths" },
  free: { options: "-b -k -m -g -h --human -t --total -w --wide" },
  grep: { options: grep, operands: "paths", data: 1, insteadOfData: ["-e", "--regexp", "-f", "--file"] },
  groups: {},
  head: {
    options: "-c= --bytes= -n= --lines= -q --quiet --silent -v --verbose -z --zero-terminated -#",
    operands: "paths",
  },
  hexdump: { options: "-b -c -C --canonical -d -n= --length= -o -s= --skip= -v --no-squeezing -x", operands: "paths" },
  hostname: {},
  id: { options: "-a -g --group -G --groups -n --name -r --real -u --user -z", operands: "data" },
  join: {
    options: "-a= -e= -i -j= -o= -t= -v= -1= -2= --check-order --nocheck-order --header",
    operands: "paths",
    most: 2,
  },
  ls: {
    options:
      "-a --all -A --almost-all --author -b --escape -B --ignore-backups -c -C --color=? -d --directory -f -F --classify=? --file-type --format= --full-time -g --group-directories-first -G --no-group -h --human-readable --si --hide= -i --inode --ignore= -k --kibibytes -l -m -n --numeric-uid-gid -N --literal -o -p -q --hide-control-chars --show-control-chars -Q --quote-name --quoting-style= -r --reverse -R --recursive -s --size -S --sort= --time= --time-style= -t --tabsize= -u -U -v --width= -x -X -Z --zero -1 --block-size= --indicator-style=",
    operands: "paths",
  },
  md5sum: { options: checksum, operands: "paths" },
  nl: {
    options:
      "-b= --body-numbering= -d= -f= -h= -i= -l= -n= --number-format= -p -s= --number-separator= -v= -w= --number-width=",
    operands: "paths",
  },
  nproc: { options: "--all --ignore=" },
  od: {
    options:
      "-A= --address-radix= --endian= -j= --skip-bytes= -N= --read-bytes= -S= -t= --format= -v --output-duplicates -w=? --width=? -a -b -c -d -f -i -l -o -s -x",
    operands: "paths",
  },
  paste: { options: "-d= --delimiters= -s --serial -z", operands: "paths" },
  printf: { operands: "data" },
  pwd: { options: "-L -P --logical --physical" },
  readlink: {
    options:
      "-f --canonicalize -e --canonicalize-existing -m --canonicalize-missing -n --no-newline -q --quiet -s --silent -v --verbose -z --zero",
    operands: "paths",
  },
  realpath: {
    options:
      "-e --canonicalize-existing -m --canonicalize-missing -L --logical -P --physical -q --quiet -s --strip --no-symlinks -z --zero --relative-to=@ --relative-base=@",
    operands: "paths",
  },
  return: { operands: "data" },
  rev: { operands: "paths" },
  rg: {
    options:
      "-A= --after-context= -B= --before-context= -C= --context= --color= --colors= --column -c --count --count-matches -e= --regexp= -F --fixed-strings --files -l --files-with-matches --files-without-match -g= --glob= --iglob= --heading --no-heading --hidden -. -i --ignore-case -v --invert-match --json -n --line-number -N --no-line-number -x --line-regexp -m= --max-count= -d= --max-depth= --max-filesize= -U --multiline --multiline-dotall --no-config --no-ignore --no-ignore-vcs --no-messages -0 --null -o --only-matching -P --pcre2 -p --pretty -q --quiet -r= --replace= -S --smart-case -s --case-sensitive --sort= --sortr= --stats -a --text --trim -t= --type= -T= --type-not= --type-list -u --unrestricted --vimgrep -H --with-filename -I --no-filename -w --word-regexp -j= --threads= -f=@ --file=@ --ignore-file=@ --passthru -M= --max-columns= --max-columns-preview -E= --encoding= --line-buffered --no-unicode --crlf --engine= --glob-case-insensitive",
    operands: "paths",
    data: 1,
    insteadOfData: ["-e", "--regexp", "-f", "--file", "--files", "--type-list"],
  },
  seq: { options: "-w --equal-width -s= --separator= -f= --format=", operands: "data" },
  sha1sum: { options: checksum, operands: "paths" },
  sha256sum: { options: checksum, operands: "paths" },
  sha512sum: { options: checksum, operands: "paths" },
  shift: { operands: "data" },
  sleep: { operands: "data" },
  sort: {
    options:
      "-b --ignore-leading-blanks -c --check=? -C -d --dictionary-order -f --ignore-case -g --general-numeric-sort -h --human-numeric-sort -i --ignore-nonprinting -k= --key= -m --merge -M --month-sort -n --numeric-sort -r --reverse -R --random-sort -s --stable -t= --field-separator= -u --unique -V --version-sort -z --zero-terminated",
    operands: "paths",
  },
  stat: { options: "-c= --format= --printf= -f --file-system -t --terse", operands: "paths" },
  strings: {
    options: "-a --all -n= --bytes= -t= --radix= -o -f --print-file-name -e= --encoding= -#",
    operands: "paths",
  },
  sum: { options: "-r -s --sysv", operands: "paths" },
  tac: { options: "-b --before -r --regex -s= --separator=", operands: "paths" },
  tail: {
    options: "-c= --bytes= -n= --lines= -q --quiet --silent -v --verbose -z --zero-terminated -#",
    operands: "paths",
  },
  tr: { options: "-c -C --complement -d --delete -s --squeeze-repeats -t --truncate-set1", operands: "data" },
  tree: {
    options:
      "-a -d -f -i -L= -I= -P= --gitignore --matchdirs --noreport --dirsfirst --filesfirst -F -h -s -D -p -u -g -C -n -x -v -t -r -J -X --prune --du --si --sort= --filelimit= --ignore-case --charset=",
    operands: "paths",
  },
  tty: { options: "-s --silent --quiet" },
  uname: {
    options:
      "-a --all -s --kernel-name -n --nodename -r --kernel-release -v --kernel-version -m --machine -p --processor -i --hardware-platform -o --operating-system",
  },
  unexpand: { options: "-a --all --first-only -t= --tabs=", operands: "paths" },
  uniq: {
    options:
      "-c --count -d --repeated -D -f= --skip-fields= -i --ignore-case -s= --skip-chars= -u --unique -w= --check-chars= -z --zero-terminated --group=? --all-repeated=?",
    operands: "paths",
    // The second operand is a file that it writes.
    most: 1,
  },
  uptime: { options: "-p --pretty -s --since" },
  wc: { options: "-c --bytes -m --chars -l --lines -L --max-line-length -w --words --total=", operands: "paths" },
  which: { options: "-a --all", operands: "data" },
  whoami: {},
  xxd: { options: "-a -b -c= -E -e -g= -i -l= -o= -p -ps -u -s=", operands: "paths", most: 1 },
};

/** Programs that, given this one option alone, print their version. What a folder may choose the version of is not among them. */
export const versionOptions: Readonly<Record<string, string>> = {
  bash: "--version",
  clang: "--version",
  cmake: "--version",
  curl: "--version -V",
  "g++": "--version",
  gcc: "--version",
  git: "--version -v version",
  grep: "--version -V",
  jq: "--version -V",
  make: "--version -v",
  node: "--version -v",
  npm: "--version -v",
  python: "--version -V",
  python3: "--version -V",
  rg: "--version -V",
  tar: "--version",
};
