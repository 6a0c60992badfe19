#!/usr/bin/env bash
# 2026-11-28, @oven/bun-linux-x64@1.4.5
# Node's net.Socket takes an open descriptor: new net.Socket({ fd }) reads a pipe that another program writes. Bun takes the same call,
# throws nothing, emits no error, and never delivers a byte: "data" and "end" do not come, although the bytes lie in the pipe.
# Who is hurt: whoever gives a child a pipe of its own making (so that it can open /dev/stderr again) and reads the other end; every
# command seems to print nothing. A read of the descriptor by fs.readSync gets the bytes.
# Seen: node: "hello" · bun: "" and then "hello" by fs.readSync.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @oven/bun-linux-x64@1.4.5
bun=node_modules/@oven/bun-linux-x64/bin/bun
cat >read.cjs <<'J'
const net = require("node:net");
const { openSync, readSync, constants } = require("node:fs");
const fd = openSync(process.argv[2], constants.O_RDONLY | constants.O_NONBLOCK);
let text = "";
const socket = new net.Socket({ fd, readable: true, writable: false });
socket.on("data", (chunk) => (text += chunk));
socket.on("error", (error) => (text += error.code));
require("node:child_process").spawn("sh", ["-c", 'printf hello >"$0"', process.argv[2]]).once("exit", () =>
  setTimeout(() => {
    console.log(JSON.stringify(text));
    if (text === "") {
      const buffer = Buffer.alloc(16);
      console.log(JSON.stringify(buffer.toString("utf8", 0, readSync(fd, buffer))));
    }
    process.exit();
  }, 500),
);
J
mkfifo pipe
byNode=$(node read.cjs pipe | tr '\n' ' ')
byBun=$("$bun" read.cjs pipe | tr '\n' ' ')
echo "node: $byNode"
echo "bun: $byBun"
[ "$byNode" = '"hello" ' ] && [ "$byBun" = '"" "hello" ' ]
