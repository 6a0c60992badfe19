import type { ParsedWords, ProgramRecord, ProgramRecords, Reads } from "./record.ts";

/** All of them parse with getopt_long of glibc. */
const source = "GNU coreutils 9.1, src/*.c";

const paths = (options: string, more: ProgramRecord["reads"] = {}): ProgramRecord => ({
  source,
  reads: { options, operands: "paths", ...more },
});
const data = (options: string): ProgramRecord => ({ source, reads: { options, operands: "data" } });
const alone = (options: string): ProgramRecord => ({ source, reads: { options } });
/** Covers any options: they are numbers and flags, however they are joined. */
const any = (record: ProgramRecord): ProgramRecord => ({ ...record, covers: "anything" });
/** Adds that it opens the files that a list names. */
const listing = (record: ProgramRecord): ProgramRecord => ({
  ...record,
  beyond: { does: "read", only: "--files0-from" },
});
/** Makes the record of a program that puts its operands at the last one. */
const placing = (options: string): ProgramRecord => ({
  source,
  covers: { options: `${options} -t=@ --target-directory=@ -T --no-target-directory` },
  beyond: { does: "put read", below: "sources" },
  keeps: /^(?:-[A-Za-z]*S|--suf[a-z]*=?)(.*)$/s,
});

function interpretSums(words: readonly string[], { unknown, operands, names, paths }: ParsedWords): Reads | string {
  const [at] = unknown;
  if (at !== undefined) return `${words[at]} is not among the options of ${words[0]} that are known to only read.`;
  const isList = names.some((name) => name === "-c" || name === "--check");
  if (isList && (operands.length === 0 || operands.includes("-"))) return `${words[0]} opens what its input names.`;
  return { paths: [...paths, ...operands.filter((operand) => operand !== "-")], contents: false };
}

/** With `-c` it opens what a list names, below the folder that it runs in if the list is one of others. */
const checksum: ProgramRecord = {
  ...paths("-b --binary -t --text --tag -z --zero -c --check --ignore-missing --quiet --status --strict -w --warn", {
    interpret: interpretSums,
  }),
  beyond: { does: "read", below: "all", folder: Infinity, only: "-c --check", partly: true },
};

const tail = `-c= --bytes= -n= --lines= -q --quiet --silent -v --verbose -z --zero-terminated -#`;

/** Programs of GNU coreutils that only read and print. */
export const coreutils: ProgramRecords = {
  arch: alone(""),
  "b2sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum": checksum,
  base32: paths("-d --decode -i --ignore-garbage -w= --wrap=", { most: 1 }),
  base64: paths("-d --decode -i --ignore-garbage -w= --wrap=", { most: 1 }),
  basename: { ...any(data("-a --multiple -s= --suffix= -z --zero")), dataFrom: 1 },
  cat: any(
    paths(
      `-A --show-all -b --number-nonblank -e -E --show-ends -n --number -s --squeeze-blank -t -T --show-tabs -u -v
      --show-nonprinting`,
    ),
  ),
  cksum: paths("-a= --algorithm= -l= --length= --tag --untagged -z --zero"),
  comm: paths("-1 -2 -3 --check-order --nocheck-order --total -z --zero-terminated --output-delimiter=", { most: 2 }),
  cut: any(
    paths(
      `-b= --bytes= -c= --characters= -d= --delimiter= -f= --fields= -s --only-delimited --complement -n -z --zero-terminated
      --output-delimiter=`,
    ),
  ),
  // Not `-f`, which prints what it cannot read of a file, nor `-s`.
  date: {
    source,
    reads: {
      options: `-u --utc --universal -I=? --iso-8601=? -R --rfc-email --rfc-3339= -d= --date= -r=@ --reference=@ --resolution --debug`,
      operands: "data",
      most: 1,
      operand: /^\+/,
    },
  },
  df: paths(
    `-a --all -B= --block-size= -h --human-readable -H --si -i --inodes -k -l --local -P --portability -T --print-type -t= --type=
    -x= --exclude-type= --total --output=?`,
  ),
  dirname: { ...any(data("-z --zero")), dataFrom: 1 },
  du: listing(
    any(
      paths(
        `-0 --null -a --all --apparent-size -b --bytes -B= --block-size= -c --total -d= --max-depth= -h --human-readable -k -m -s
      --summarize -S --separate-dirs --si -t= --threshold= --time=? --time-style= --exclude= -x --one-file-system -P --no-dereference -l
      --count-links --inodes -X=@ --exclude-from=@`,
      ),
    ),
  ),
  expand: paths("-i --initial -t= --tabs="),
  factor: data(""),
  fmt: paths("-c -w= --width= -g= --goal= -p= --prefix= -s --split-only -t -u --uniform-spacing"),
  fold: paths("-b --bytes -s --spaces -w= --width="),
  groups: alone(""),
  head: any(paths(tail)),
  id: data("-a -g --group -G --groups -n --name -r --real -u --user -z --zero -Z --context"),
  join: paths(
    "-a= -e= -i --ignore-case -j= -o= -t= -v= -1= -2= -z --zero-terminated --check-order --nocheck-order --header",
    { most: 2 },
  ),
  ls: any(
    paths(
      `-a --all -A --almost-all --author -b --escape -B --ignore-backups -c -C --color=? -d --directory -f -F --classify=? --file-type
      --format= --full-time -g --group-directories-first -G --no-group -h --human-readable --si --hide= --hyperlink=? -i --inode
      -I= --ignore= -k --kibibytes -l -m -n --numeric-uid-gid -N --literal -o -p -q --hide-control-chars --show-control-chars
      -Q --quote-name --quoting-style= -r --reverse -R --recursive -s --size -S --sort= --time= --time-style= -t -T= --tabsize= -u -U -v
      -w= --width= -x -X -Z --context --zero -1 --block-size= --indicator-style=`,
    ),
  ),
  nl: any(
    paths(
      `-b= --body-numbering= -d= --section-delimiter= -f= --footer-numbering= -h= --header-numbering= -i= --line-increment= -l=
      --join-blank-lines= -n= --number-format= -p --no-renumber -s= --number-separator= -v= --starting-line-number= -w=
      --number-width=`,
    ),
  ),
  nproc: alone("--all --ignore="),
  numfmt: data(
    `-d= --delimiter= --field= --format= --from= --from-unit= --grouping --header=? --invalid= --padding= --round= --suffix= --to=
    --to-unit= -z --zero-terminated`,
  ),
  od: paths(
    `-A= --address-radix= --endian= -j= --skip-bytes= -N= --read-bytes= -S= --strings=? -t= --format= -v --output-duplicates -w=?
    --width=? -a -b -c -d -f -i -l -o -s -x`,
  ),
  paste: paths("-d= --delimiters= -s --serial -z --zero-terminated"),
  readlink: any(
    paths(
      `-f --canonicalize -e --canonicalize-existing -m --canonicalize-missing -n --no-newline -q --quiet -s --silent -v --verbose -z
      --zero`,
    ),
  ),
  realpath: any(
    paths(
      `-e --canonicalize-existing -m --canonicalize-missing -L --logical -P --physical -q --quiet -s --strip --no-symlinks -z --zero
      --relative-to=@ --relative-base=@`,
    ),
  ),
  seq: data("-w --equal-width -s= --separator= -f= --format= -#"),
  sleep: { ...data(""), dataFrom: 1 },
  // Not `-o`, `-T`, `-S` (which makes it use files), `--compress-program` and `--files0-from`.
  sort: listing(
    paths(
      `-b --ignore-leading-blanks -c --check=? -C --debug -d --dictionary-order -f --ignore-case -g --general-numeric-sort -h
    --human-numeric-sort -i --ignore-nonprinting -k= --key= -m --merge -M --month-sort -n --numeric-sort -r --reverse -R --random-sort
    -s --stable --sort= -t= --field-separator= --parallel= -u --unique -V --version-sort -z --zero-terminated`,
    ),
  ),
  stat: any(paths("-L --dereference --cached= -c= --format= --printf= -f --file-system -t --terse")),
  sum: paths("-r -s --sysv"),
  tac: paths("-b --before -r --regex -s= --separator="),
  tail: any(paths(`-f --follow=? -F --retry --pid= -s= --sleep-interval= --max-unchanged-stats= ${tail}`)),
  tr: data("-c -C --complement -d --delete -s --squeeze-repeats -t --truncate-set1"),
  tsort: paths("", { most: 1 }),
  tty: alone("-s --silent --quiet"),
  uname: alone(
    `-a --all -s --kernel-name -n --nodename -r --kernel-release -v --kernel-version -m --machine -p --processor -i --hardware-platform
    -o --operating-system`,
  ),
  unexpand: paths("-a --all --first-only -t= --tabs="),
  // The second operand is a file that it writes.
  uniq: paths(
    `-c --count -d --repeated -D -f= --skip-fields= -i --ignore-case -s= --skip-chars= -u --unique -w= --check-chars= -z
    --zero-terminated --group=? --all-repeated=? -#`,
    { most: 1 },
  ),
  users: alone(""),
  wc: listing(any(paths("-c --bytes -m --chars -l --lines -L --max-line-length -w --words"))),
  who: alone(
    `-a --all -b --boot -d --dead -H --heading -l --login -m -p --process -q --count -r --runlevel -s --short -t --time -T -w --mesg
    -u --users`,
  ),
  whoami: alone(""),
  // Programs that change files ask by their nature, and no option of these runs or writes anything besides their operands.
  "mkdir tee touch": {
    covers: "anything",
    access: "write",
    same: "-p --parents, -m= --mode=, -a --append, -c --no-create",
  },
  "chgrp chmod chown": {
    covers: "anything",
    access: "write",
    beyond: { does: "write", below: "all", only: "-R --recursive" },
    same: "-R --recursive, -f --silent --quiet, -c --changes, -v --verbose, -h --no-dereference",
  },
  "rm rmdir": {
    covers: "anything",
    beyond: { does: "delete", below: "all" },
    same: "-r -R --recursive, -f --force, -i --interactive=, -d --dir, -p --parents, -v --verbose, --no-preserve-root",
  },
  // Not what makes names (`-S`, `-b`, `--parents`), links of copies, or follows links in a folder.
  cp: {
    ...placing(
      `-a --archive -d -f --force -i --interactive -n --no-clobber -p -P --no-dereference --preserve=? --no-preserve= -r -R --recursive -u
    --update=? -v --verbose -x --one-file-system --reflink=? --sparse= --strip-trailing-slashes`,
    ),
    beyond: [
      { does: "put read", below: "sources" },
      { does: "read", below: "sources", only: "-L --dereference", followsLinks: true },
      { does: "bring", only: "-a --archive -d --no-dereference -P -r -R --recursive -l --link -s --symbolic-link" },
    ],
    access: "read write",
    same: "-r -R --recursive, -b --backup=, -S= --suffix=, -L --dereference, -l --link, -s --symbolic-link",
  },
  install: placing(
    "-c -C --compare -d --directory -D -g= --group= -m= --mode= -o= --owner= -p --preserve-timestamps -v --verbose",
  ),
  link: { ...placing(""), beyond: { does: "put bring" } },
  ln: {
    ...placing(
      "-f --force -i --interactive -n --no-dereference -P --physical -r --relative -s --symbolic -v --verbose",
    ),
    beyond: { does: "put bring" },
  },
  mv: {
    ...placing("-f --force -i --interactive -n --no-clobber -u --update=? -v --verbose --strip-trailing-slashes"),
    beyond: { does: "put bring read delete", below: "sources" },
  },
};
