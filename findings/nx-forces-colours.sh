#!/usr/bin/env bash
# 2026-11-28, nx@24.0.6
# Nx gives the programs that it starts FORCE_COLOR=true even when its own output is a file and CI is set. Node then prints values with
# colour codes into a pipe: `console.log(0)` is `\x1b[33m0\x1b[39m`, and so is everything below it that a test starts and reads.
# Who is hurt: tests and scripts that compare what a program prints. They pass when run by hand or by npm, and fail under Nx.
# Seen: "by npm: 0" and "by nx: \x1b[33m0\x1b[39m".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset FORCE_COLOR NO_COLOR
export NX_DAEMON=false NX_NO_CLOUD=true CI=true
cat >package.json <<'J'
{ "name": "w", "private": true, "scripts": { "print": "node print.js" },
  "nx": { "targets": { "print": {} } } }
J
cat >print.js <<'J'
// As a test does: starts a program and keeps what it prints.
const { execFileSync } = require("node:child_process");
const printed = execFileSync(process.execPath, ["-e", "console.log(0)"], { encoding: "utf8" });
require("node:fs").appendFileSync("printed.txt", JSON.stringify(printed.trim()) + "\n");
J
echo '{}' >nx.json
npm install --silent --no-audit --no-fund nx@24.0.6
npm run -s print >log 2>&1
node_modules/.bin/nx run w:print >log 2>&1
{ read -r npm; read -r nx; } <printed.txt
echo "by npm: $npm"
echo "by nx: $nx"
[ "$npm" = '"0"' ] && [ "$nx" = '"\u001b[33m0\u001b[39m"' ]
