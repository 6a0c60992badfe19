import type { ParsedWords, ProgramRecords, Reads } from "./record.ts";

/** Columns of ps that show no environment. ps reads all words once more in another way if it does not know one. */
const columns = new Set(
  `%cpu %mem args bsdtime cmd comm command cpu cputime drs egid egroup etime etimes euid euser exe fname gid group lstart lwp maj_flt
  majflt min_flt minflt nice ni nlwp pcpu pgid pgrp pid pmem ppid pri psr rgid rgroup rss rsz rtprio ruid ruser s sess sid size start
  start_time stat state stime sz thcount tid time times tname trs tt tty ucmd ucomm uid user uname vsize vsz wchan`.split(
    /\s+/,
  ),
);

function columnsIn(list: string): string[] {
  return list === "" ? [] : list.split(/[, ]/).map((name) => name.replace(/^[+-]|=.*$/g, ""));
}

function interpretPs(words: readonly string[], { unknown, operands, names, values }: ParsedWords): Reads | string {
  const [at] = unknown;
  if (at !== undefined) return `${words[at]} is not among the options of ps that are known to only read.`;
  if (names.some((name) => /^-[LT]$/.test(name)) && names.some((name) => name === "-H" || name === "--forest"))
    return "ps reads such options in two ways.";
  const listed = values.flatMap(columnsIn);
  // Without a dash the letter e shows the environment.
  // `k` takes the next word, the columns to sort by.
  const bsd = /^(?:[acfjlrsTuvwxX]*|(?:[acfjlrsTuvwxX]+ )?[acfjlrsTuvwxX]*k (\S+))$/.exec(operands.join(" "));
  const all = [...listed, ...columnsIn(bsd?.[1] ?? "")];
  return bsd && all.every((name) => columns.has(name) || /^[0-9]+$/.test(name))
    ? { paths: [] }
    : "ps may show the environment of programs.";
}

export const systemTools: ProgramRecords = {
  free: {
    source: "procps 4.0.2, src/free.c",
    reads: {
      options: "-b --bytes -k --kibi -m --mebi -g --gibi -h --human --si -l --lohi -t --total -v --committed -w --wide",
    },
  },
  hostname: { reads: {}, covers: { options: "-f -s -i -I -d -A" } },
  ps: {
    source: "procps 4.0.2, src/ps/parser.c",
    // With the values of columns and processes alone.
    reads: {
      options:
        "-A -e -a -d -f -F -j -l -T -L -w -H --forest --headers --no-headers -p= --pid= --ppid= -o= --format= --sort=",
      operands: "data",
      interpret: interpretPs,
    },
  },
  uptime: { source: "procps 4.0.2, src/uptime.c", reads: { options: "-p --pretty -s --since" } },
  which: { source: "debianutils 5.7, which", reads: { options: "-a", operands: "data" } },

  "apt apt-get": { covers: { options: "-y --yes -q --quiet -s --simulate --no-install-recommends" } },
  journalctl: {
    covers: {
      options:
        "-u= --unit= -n= --lines= -f --follow -e --no-pager -b --boot -k --dmesg -p= --priority= --since= --until= -o= --output= -r --reverse -x --user --system",
    },
  },
  // A word with a plus is a command of its own.
  less: { covers: { options: "-N -S -R -F -X -i -n -M", word: /^[^+]/ } },
  man: { covers: { options: "-k -f -a -w", word: /^[\w.+:-]+$/ } },
  "bat batcat": {
    covers: {
      options:
        "-n --number -p --plain -A --show-all -l= --language= -r= --line-range= --style= --color= --paging=never --decorations= --theme= --wrap=",
    },
  },
  fzf: { covers: { options: "-e --exact -m --multi -q= --query= -f= --filter= -i +i --no-sort" } },
};
