#!/usr/bin/env bash
# 2026-11-29, node@24.21.0 (npm), Linux
# The peak memory that a fresh process reports of itself begins with the peak of the process that started it: the kernel carries the high
# mark over exec, and `process.resourceUsage().maxRSS` shows it. `VmHWM` in /proc/self/status begins anew.
# Hurt: tests and benches that start a child to measure its memory: its figure grows with the parent (a test runner late in its run), and a
# limit that held alone fails behind other tests.
# Seen: "maxRSS above 250 MB: true, VmHWM above 250 MB: false"
set -euo pipefail
[ "$(uname)" = Linux ] || { echo "Linux only"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error node@24.21.0 >/dev/null
cat >child.cjs <<'JS'
const { readFileSync } = require("node:fs");
const own = Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "latin1"))[1]);
const told = process.resourceUsage().maxRSS;
console.log(`maxRSS above 250 MB: ${told > 250_000}, VmHWM above 250 MB: ${own > 250_000}`);
JS
cat >parent.cjs <<'JS'
const { execFileSync } = require("node:child_process");
const held = Buffer.alloc(300_000_000, 1);
process.stdout.write(execFileSync(process.execPath, ["child.cjs"], { encoding: "utf8" }));
if (held.length === 0) throw new Error("never");
JS
output=$(node_modules/.bin/node parent.cjs)
echo "$output"
[ "$output" = "maxRSS above 250 MB: true, VmHWM above 250 MB: false" ]
