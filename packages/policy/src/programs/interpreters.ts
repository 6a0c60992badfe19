import type { ProgramRecord, ProgramRecords } from "./record.ts";

const running = (plain: string, code: string, more: ProgramRecord["runs"] = {}): ProgramRecord => ({
  runs: { plain, code, ...more },
});
/** It looks a program up and runs it. */
const launching = (plain: string, code = ""): ProgramRecord =>
  running(plain, code, { launches: ["", ...code.split(" ")] });

/** Programs that run a file or a text of theirs, or the program that their words name. */
export const interpreters: ProgramRecords = {
  bun: running("", "-e -p --eval --print run x test exec", { launches: ["x"] }),
  "bunx npx pnpx uvx": launching("-y --yes --no-install --no"),
  corepack: running("", ""),
  deno: {
    commands: {
      "check doc info lint fmt types": { covers: { options: "--check --quiet -q --json --no-lock" } },
      test: { covers: { options: "--quiet -q --parallel --fail-fast=? --filter=?" } },
    },
  },
  java: running("-ea", "-jar"),
  "node nodejs": { ...running("--test --check --watch", "-e -p --eval --print"), versionOptions: "--version -v" },
  perl: running("-w", "-e -E"),
  php: running("", "-r -f -l"),
  pipx: launching("", "run"),
  "python python2 python3": {
    ...running("-u -B -I -E -s", "-c -m", { launches: ["-m"] }),
    versionOptions: "--version -V",
  },
  ruby: running("-w", "-e"),
  "ts-node": running("", "-e -p"),
  tsx: running("--test --watch watch", "-e -p --eval --print"),
};
