import type { ProgramRecord, ProgramRecords } from "./record.ts";

/** Options with one dash and a long name, and letters whose value is attached; plugins, wrappers and outputs are not here. */
const compiler: ProgramRecord = {
  style: "words",
  versionOptions: "--version",
  covers: {
    options: `-c -S -E -g -g0 -g3 -ggdb -O -O0 -O1 -O2 -O3 -Os -Og -Wall -Wextra -Werror -Wpedantic -Wno-error -Wshadow -Wconversion -pedantic -w -v -M -MM
      -fPIC -fpic -fsyntax-only -fno-strict-aliasing -fsanitize=address|undefined|thread -fsanitize=address,undefined -pthread -shared -static
      -std=c89|c90|c99|c11|c17|c18|c23|gnu89|gnu99|gnu11|gnu17|c++11|c++14|c++17|c++20|c++23|gnu++17|gnu++20 -m32 -m64 -march=native -lm -lpthread -ldl -lstdc++`,
    // Not options in a file.
    word: /^[^@]/,
  },
};

export const compilers: ProgramRecords = {
  "c89 c99 cc clang clang++ g++ gcc": compiler,
  "gmake make": {
    versionOptions: "--version -v",
    covers: {
      options: `-j=? --jobs=? -k --keep-going -n --dry-run --just-print -s --silent --quiet -B --always-make -i --ignore-errors -q --question -w
        --print-directory --no-print-directory -O=? --output-sync=? -l=? --load-average=? -r -R --no-builtin-rules --no-builtin-variables
        --trace -d -p -t --touch -S --no-keep-going --warn-undefined-variables`,
      // Not a variable, which may name the shell.
      word: /^[^=]*$/s,
    },
  },
  cmake: {
    versionOptions: "--version",
    // Not a variable for make, to which it hands on what follows --.
    covers: {
      options: "--build= --config= --target= -t= -j=? --parallel=? --clean-first -v --verbose -N -L",
      word: /^[^@=]*$/,
    },
  },
  ctest: {
    covers: {
      options:
        "-V --verbose -j=? --parallel=? -R= -E= -L= --output-on-failure -N --rerun-failed -Q --quiet --stop-on-failure",
    },
  },
  ninja: { covers: { options: "-j= -k= -l= -n -v --verbose --quiet" } },
  meson: {
    commands: {
      "compile test": { covers: { options: "-v --verbose -j= --print-errorlogs --list --no-rebuild --suite=" } },
    },
  },
  javac: { covers: "nothing" },
};
