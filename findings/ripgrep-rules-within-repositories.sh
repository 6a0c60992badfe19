#!/usr/bin/env bash
# 2026-11-28, @vscode/ripgrep-linux-x64@1.18.0 (ripgrep 15.0.0)
# A .gitignore ends at a repository within its folder: git and ripgrep do not apply the outer rules below the inner .git. With
# --no-require-git, which is meant to apply .gitignore outside of repositories too, ripgrep 15 also forgets where one begins, and leaves
# out files of the inner repository by rules of the outer one. (Debian's ripgrep 13 with the same flag lists them.)
# Who is hurt: tools that pass --no-require-git to search plain folders; below a folder with vendored or nested clones they miss files.
# Seen: "plain: .gitignore in/a.log" and "no-require-git: .gitignore".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @vscode/ripgrep-linux-x64@1.18.0
rg=$PWD/node_modules/@vscode/ripgrep-linux-x64/bin/rg
mkdir -p tree/.git tree/in/.git
cd tree
echo 'ref: refs/heads/main' | tee .git/HEAD >in/.git/HEAD
echo '*.log' >.gitignore
echo text >in/a.log
list() { "$rg" --files --hidden -g '!.git' --no-ignore-global --no-ignore-exclude "$@" | sort | tr '\n' ' '; }
plain=$(list)
flagged=$(list --no-require-git)
echo "plain: $plain"
echo "no-require-git: $flagged"
[ "$plain" = ".gitignore in/a.log " ] && [ "$flagged" = ".gitignore " ]
