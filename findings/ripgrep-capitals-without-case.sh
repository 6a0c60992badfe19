#!/usr/bin/env bash
# 2026-11-29, @vscode/ripgrep-linux-x64@1.18.0 (ripgrep 15)
# Two engines in one tool: one guesses that a class which both take means the same in both. Under `-i` ripgrep's own engine takes
# `[[:upper:]]` for all letters; PCRE (`-P`) for capitals alone, though `[A-Z]` is without case there, too. With `--engine=auto` a
# backreference elsewhere in the expression changes the engine, and so what the class means.
# Hurt: agents and scripts that search with `-i` or `-S` (smart case: a class has no capital of its own) and add a group.
# Seen:
#   default [[:upper:]]b: ab Ab AB
#   pcre    [[:upper:]]b: Ab AB
#   pcre    [A-Z]b: ab Ab AB
#   auto    [[:upper:]]b(x?): ab Ab AB
#   auto    [[:upper:]]b(x?)\1: Ab AB
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --force @vscode/ripgrep-linux-x64@1.18.0 >/dev/null 2>&1
rg=node_modules/@vscode/ripgrep-linux-x64/bin/rg
printf '%s\n' ab Ab AB >lines
seen() { printf '%-7s %s: %s\n' "$1" "$2" "$("$rg" --no-config -i --engine="$1" -e "$2" lines | tr '\n' ' ' | sed 's/ $//')"; }
{
  seen default '[[:upper:]]b'
  seen pcre2 '[[:upper:]]b'
  seen pcre2 '[A-Z]b'
  seen auto '[[:upper:]]b(x?)'
  seen auto '[[:upper:]]b(x?)\1'
} | sed 's/^pcre2   */pcre    /' | tee out
diff out - <<'TEXT'
default [[:upper:]]b: ab Ab AB
pcre    [[:upper:]]b: Ab AB
pcre    [A-Z]b: ab Ab AB
auto    [[:upper:]]b(x?): ab Ab AB
auto    [[:upper:]]b(x?)\1: Ab AB
TEXT
