#!/usr/bin/env bash
# 2026-11-28, @deno/linux-x64-glibc@2.9.6
# child_process.spawn takes descriptors in `stdio`. Node lets one stand in as many places as one likes. Deno does so in places 0 to 2
# (`[fd, fd, fd]` works), but not in those above: a descriptor that stands at 3 and again at 4 is handed over once, and the start fails
# with "Bad file descriptor".
# Who is hurt: programs that close inherited descriptors to a child by giving /dev/null, opened once, to each place above 2.
# Seen: node: "0-2 starts, 3-4 starts" · deno: "0-2 starts, 3-4 Bad file descriptor".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @deno/linux-x64-glibc@2.9.6
deno=node_modules/@deno/linux-x64-glibc/deno
chmod +x "$deno"
cat >twice.cjs <<'J'
const { spawn } = require("node:child_process");
const { openSync } = require("node:fs");
const start = (stdio) =>
  new Promise((resolve) => {
    const child = spawn("sh", ["-c", "true"], { stdio });
    child.on("error", ({ message }) => resolve(/Bad file descriptor/.exec(message)?.[0] ?? message));
    child.on("close", (code) => resolve(code === 0 ? "starts" : `ends with ${code}`));
  });
(async () => {
  const nothing = openSync("/dev/null", "r+");
  const low = await start([nothing, nothing, nothing]);
  const high = await start(["ignore", "ignore", "ignore", nothing, nothing]);
  console.log(`0-2 ${low}, 3-4 ${high}`);
  process.exit();
})();
J
byNode=$(node twice.cjs)
byDeno=$("$deno" run -A twice.cjs)
echo "node: $byNode"
echo "deno: $byDeno"
[ "$byNode" = "0-2 starts, 3-4 starts" ] && [ "$byDeno" = "0-2 starts, 3-4 Bad file descriptor" ]
