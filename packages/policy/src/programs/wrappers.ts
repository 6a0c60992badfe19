import { shellOptions } from "./interpreters.ts";
import type { ProgramRecord, ProgramRecords } from "./record.ts";

const starting = (options: string, more: ProgramRecord["starts"] = {}): ProgramRecord => ({
  starts: { options, transparent: true, ...more },
});
/** Makes the record of a wrapper that changes what the command may do, so that a rule must allow it too. */
const changing = (options: string): ProgramRecord => ({ starts: { options } });
const shell = (script: "sh -c" | "bash -c", more: ProgramRecord = {}): ProgramRecord => ({
  starts: { script, transparent: true },
  runs: { plain: "-e -u -x", code: "-c" },
  fromInput: { options: shellOptions, always: "-s" },
  ...more,
});

/** Programs that start the command in their words. */
export const wrappers: ProgramRecords = {
  // Its programs are its own, with other options.
  busybox: { style: "words", ...changing("") },
  builtin: { style: "words", ...changing("") },
  chronic: { source: "moreutils 0.67, chronic", ...starting("") },
  "chrt taskset": { covers: "nothing" },
  doas: changing("-n"),
  env: {
    source: "GNU coreutils 9.1, src/env.c",
    ...starting("-i --ignore-environment -u= --unset=", { assigns: true }),
  },
  ionice: { source: "util-linux 2.38, schedutils/ionice.c", ...starting("-c= --class= -n= --classdata= -t --ignore") },
  nice: { source: "GNU coreutils 9.1, src/nice.c", ...starting("-n= --adjustment= -#") },
  nohup: { source: "GNU coreutils 9.1, src/nohup.c", ...starting("") },
  setsid: changing("-w --wait -f --fork"),
  stdbuf: {
    source: "GNU coreutils 9.1, src/stdbuf.c",
    ...starting("-i= -o= -e= --input= --output= --error="),
  },
  sudo: {
    ...changing("-n --non-interactive -E --preserve-env"),
    same: "-u= --user=, -g= --group=, -s --shell, -i --login, -k --reset-timestamp",
  },
  time: { source: "GNU time 1.9, src/time.c", ...starting("-p") },
  timeout: {
    source: "GNU coreutils 9.1, src/timeout.c",
    ...starting("-s= --signal= -k= --kill-after= --foreground --preserve-status -v --verbose", { operands: 1 }),
  },
  xargs: {
    source: "GNU findutils 4.9.0, xargs/xargs.c",
    ...starting(
      `-0 --null -r --no-run-if-empty -t --verbose -x --exit -n= --max-args= -P= --max-procs= -L= -d= --delimiter= -I=`,
      { moreWords: true },
    ),
  },
  "ash dash sh": shell("sh -c"),
  bash: shell("bash -c", { versionOptions: "--version" }),
};
