import type { Beyond, ProgramRecords } from "./record.ts";

/** Each file below a folder becomes another one. */
const recursing: Beyond = { does: "read write delete", below: "all", only: "-r --recursive" };

/** It writes files of names of its own. */
const ownNames: Beyond = { does: "write" };

/** Programs that pack, and show packed files. An archive and a patch name the files themselves that they write, protected ones too. */
export const archives: ProgramRecords = {
  "7z 7za bsdtar unar unrar uudecode": {
    covers: "nothing",
    // Without operands some take the names of files from their input.
    beyond: { does: "read bring", below: "all", folder: 1, followsLinks: true },
  },
  // The names that they pack come from their input.
  "cpio pax": { covers: "nothing", beyond: { does: "read bring", below: "all", folder: 1, followsLinks: true } },
  // Not `-S`, which makes names, `-N`, which takes them from the file, and `-r`.
  "bunzip2 bzip2 gunzip gzip lzma unlzma unxz xz": {
    beyond: recursing,
    covers: {
      options:
        "-# -c --stdout -d --decompress -f --force -k --keep -q --quiet -v --verbose -t --test -l --list -n --no-name -T= --threads=",
    },
  },
  csplit: {
    beyond: ownNames,
    covers: { options: "-n= -s -k -z --quiet --silent --digits= --elide-empty-files --keep-files" },
  },
  patch: { covers: "input", beyond: { does: "bring write" } },
  script: { covers: "nothing", beyond: ownNames, versionOptions: "-h --help -V --version" },
  split: { covers: "nothing", beyond: ownNames },
  jar: {
    covers: { bundle: /^[tvf]*$/, options: "-t --list -v --verbose -f= --file=" },
    beyond: [
      { does: "bring write", only: "-x --extract -c --create -u --update -i --generate-index" },
      // Its options may stand in a file.
      { does: "bring write", script: /^@/ },
      { does: "read", below: "all", only: "-c --create -u --update" },
    ],
  },
  // Modules that Python runs.
  "tarfile zipfile": {
    covers: "nothing",
    beyond: [
      { does: "bring write", only: "-e --extract -c --create" },
      { does: "read", below: "all", only: "-c --create" },
    ],
  },
  tar: {
    beyond: [
      { does: "read", below: "all", only: "-c --create -r --append -u --update" },
      { does: "read", below: "all", only: "-h --dereference", followsLinks: true },
      { does: "bring write", only: "-x --extract --get" },
      { does: "delete", below: "all", only: "--remove-files" },
      { does: "read", only: "-T --files-from" },
    ],
    versionOptions: "--version",
    same: `-x --get --extract, -c --create, -t --list, -r --append, -u --update, -A --concatenate --catenate, -f= --file=, -C= --directory=, -z
      --ungzip --gunzip --gzip, -j --bzip2, -J --xz, -P --absolute-names, -T= --files-from=, -I= --use-compress-program=, -O --to-stdout,
      -h --dereference, -p --same-permissions --preserve-permissions, -k --keep-old-files, -v --verbose`,
    covers: {
      options: `-c -t -z -j -J -v -k -p -m -O -a -f= --create --list --gzip --gunzip --bzip2 --xz --zstd --auto-compress --verbose --file=
        --keep-old-files --strip-components= --exclude= --exclude-vcs --wildcards --no-same-owner --to-stdout --sort=name --mtime= --owner=
        --group= --numeric-owner`,
      bundle: /^[ctzjJvkpmOa]*f?[ctzjJvkpmOa]*$/,
      // Not an archive of another host, which tar opens through rsh.
      word: /^(?:[^:/]*\/.*|[^:]*)$/s,
    },
  },
  unzip: { covers: "nothing", beyond: { does: "bring write" } },
  zip: {
    covers: { options: "-r -q -v -j -u -9 -x= -i= -y -X -e" },
    beyond: [
      { does: "read", below: "all", followsLinks: true },
      { does: "read", below: "all", folder: Infinity, only: "-R --recurse-patterns" },
      { does: "delete", below: "all", only: "-m --move" },
      { does: "read", only: "-@ --names-stdin" },
    ],
  },
  zstd: {
    beyond: [recursing, { does: "read", only: "--filelist" }],
    covers: {
      options: "-d -k -f -q -v -t -l -c -# --rm -T= --threads= --stdout --decompress --keep --force --ultra --long=?",
    },
  },
};
