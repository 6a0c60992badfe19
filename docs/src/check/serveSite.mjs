import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../dist", import.meta.url));
const types = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

/** Serves the built site on loopback. */
export async function serveSite() {
  const server = createServer((request, response) => {
    let file = join(folder, normalize(decodeURIComponent(new URL(request.url, "http://site").pathname)));
    if (existsSync(file) && statSync(file).isDirectory()) file = join(file, "index.html");
    const found = existsSync(file);
    response.writeHead(found ? 200 : 404, { "content-type": types[extname(file)] ?? "application/octet-stream" });
    response.end(found ? readFileSync(file) : "not found");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The address of every page, such as `/guides/start/`. */
export function listAddresses() {
  return readdirSync(folder, { recursive: true })
    .map((name) => `/${name.replaceAll("\\", "/")}`)
    .filter((name) => name.endsWith("/index.html"))
    .map((name) => name.slice(0, -"index.html".length))
    .sort();
}
