#!/usr/bin/env bash
# 2026-11-28, node@24.21.0 from npm.
# With a proxy from the environment, fetch and http.get speak to it in two ways. For a plain http:// address http.get sends the proxy the whole
# address, as proxies of HTTP expect. fetch asks it for a tunnel instead (CONNECT host:80), although there is nothing to encrypt.
# Hurt: whoever sets HTTP_PROXY for fetch behind a proxy that lets CONNECT through to port 443 alone, or that caches, filters or logs plain
# HTTP by its addresses: the same address works by http.get and by curl, and fails or goes unseen by fetch.
# Seen: http.get: "GET http://example.test/x"; fetch: "CONNECT example.test:80".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error node@24.21.0 >/dev/null
cat >main.mjs <<'JS'
import http from "node:http";
const seen = [];
const proxy = http.createServer((request, response) => {
  seen.push(`${request.method} ${request.url}`);
  response.end("from the proxy");
});
proxy.on("connect", (request, socket) => {
  seen.push(`CONNECT ${request.url}`);
  socket.write("HTTP/1.1 200 OK\r\n\r\n");
  socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok"));
});
await new Promise((listening) => proxy.listen(0, "127.0.0.1", listening));
http.setGlobalProxyFromEnv({ http_proxy: `http://127.0.0.1:${proxy.address().port}` });
await new Promise((ended) => http.get("http://example.test/x", (answer) => answer.resume().on("end", ended)));
await (await fetch("http://example.test/x")).text();
console.log(seen.join("; "));
process.exit();
JS
output=$(./node_modules/.bin/node main.mjs)
echo "$output"
[ "$output" = "GET http://example.test/x; CONNECT example.test:80" ]
