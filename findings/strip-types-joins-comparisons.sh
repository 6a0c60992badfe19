#!/usr/bin/env bash
# 2026-11-29, node@24.21.0 (npm): module.stripTypeScriptTypes
# Removing types from plain JavaScript is not a step that changes nothing. Two comparisons whose words could be the type arguments of a
# call are read as that, as TypeScript's grammar asks: `a < b, c > (d)` loses two arguments' worth of text and becomes the call `a(d)`. There
# is no error, and the text stays as long as it was.
# Hurt: whoever strips "just in case" before running code that may be either language: editors' blocks, models' programs, a REPL.
# Seen: "plain: false,true; stripped: called with 1"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error node@24.21.0 >/dev/null
cat >program.mjs <<'JS'
import { stripTypeScriptTypes } from "node:module";
const source = "return [low < size, rest > (limit)].join();";
const run = (text) => {
  const low = (value) => `called with ${value}`;
  return new Function("low", "size", "rest", "limit", text)(low, 9, 5, 1);
};
console.log(`plain: ${run(source)}; stripped: ${run(stripTypeScriptTypes(`function f() {${source}}`).slice(14, -1))}`);
JS
output=$(node_modules/.bin/node --no-warnings program.mjs)
echo "$output"
[ "$output" = "plain: false,true; stripped: called with 1" ]
