import type { ProgramRecords } from "./record.ts";

/** What packs and unpacks: nothing that another program does, or that leaves the folder. */
export const archives: ProgramRecords = {
  csplit: { covers: { options: "-n= -s -k -z --quiet --silent --digits= --elide-empty-files --keep-files" } },
  patch: {
    covers: { options: "-p= -R -N -s -l -E --strip= --dry-run --reverse --forward --silent --verbose -f -t -u -b" },
  },
  split: {
    covers: {
      options:
        "-l= -b= -C= -n= -a= -d -x -u --lines= --bytes= --number= --suffix-length= --numeric-suffixes=? --verbose",
    },
  },
  tar: {
    versionOptions: "--version",
    covers: {
      options: `-c -x -t -z -j -J -v -k -p -m -O -a -f= --create --extract --get --list --gzip --gunzip --bzip2 --xz --zstd --auto-compress --verbose --file=
        --keep-old-files --strip-components= --exclude= --exclude-vcs --wildcards --no-same-owner --to-stdout --sort=name --mtime= --owner=
        --group= --numeric-owner`,
      bundle: /^[cxtzjJvkpmOa]*f?[cxtzjJvkpmOa]*$/,
      // Not an archive of another host, which tar opens through rsh.
      word: /^(?:[^:/]*\/.*|[^:]*)$/s,
    },
  },
  unzip: { covers: { options: "-l -q -v -t -n -j -x= -p -Z -a -C" } },
  zip: { covers: { options: "-r -q -v -j -u -9 -x= -i= -y -X -e" } },
  zstd: {
    covers: {
      options: "-d -k -f -q -v -t -l -c -# --rm -T= --threads= --stdout --decompress --keep --force --ultra --long=?",
    },
  },
};
