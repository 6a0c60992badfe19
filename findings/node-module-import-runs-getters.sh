#!/usr/bin/env bash
# 2026-11-30, node@24.21.0 from npm.
# An ES module that imports one of Node's own modules has Node read every export of it, lazy ones too, whatever names are imported. So
# `import process from "node:process"`, of an object that is there as a global, makes streams of standard input, output and error and loads
# some 30 modules of Node for them, among them `net` where input is a pipe; `import { readFileSync } from "node:fs"` loads all streams of
# files. `process.getBuiltinModule` and `require` give the same objects and load one module at most.
# Hurt: commands and hooks that start often, by 5 to 10 ms a start; linters' rules ask for this very import.
# Seen: "import of node:process 33, of node:fs 34; getBuiltinModule 1 and 0; a socket for input: true"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error node@24.21.0 >/dev/null
cat >load.mjs <<'JS'
const [how, name] = process.argv.slice(2);
const before = new Set(process.moduleLoadList);
if (how === "import") await import(name);
else process.getBuiltinModule(name);
const loaded = process.moduleLoadList.filter((module) => !before.has(module));
console.log(loaded.length, loaded.includes("NativeModule net"));
JS
run() { printf '' | node_modules/.bin/node load.mjs "$@"; }
read -r process socket < <(run import node:process)
read -r files _ < <(run import node:fs)
read -r plain _ < <(run get node:process)
read -r plainFiles _ < <(run get node:fs)
echo "import of node:process $process, of node:fs $files; getBuiltinModule $plain and $plainFiles; a socket for input: $socket"
[ "$process" -gt 20 ] && [ "$files" -gt 20 ] && [ "$plain" -le 1 ] && [ "$plainFiles" = 0 ] && [ "$socket" = true ]
