// A registry on loopback: verdaccio with its storage in the folder of this run.
import { once } from "node:events";
import { createServer, request } from "node:http";
import { createServer as createSocket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createProject, npmInstall, run, start } from "../consumers/project.mjs";

const verdaccio = "6.10.4";

/** Our packages come from here alone, all others from the registry that this machine uses. */
const configuration = (uplink) => `
storage: ./storage
auth: { htpasswd: { file: ./htpasswd } }
uplinks: { usual: { url: ${uplink} } }
packages:
  "@toolcrib/*": { access: $all, publish: $authenticated, unpublish: $authenticated }
  "**": { access: $all, proxy: usual }
max_body_size: 50mb
log: { type: stdout, format: pretty, level: warn }
`;

/** Starts it. `npmrc` are the lines of a publisher's `.npmrc`. */
export async function startRegistry() {
  const folder = createProject("registry", {
    manifest: { dependencies: { verdaccio }, overrides: { "node-fetch": "2.7.0" } },
  });
  await npmInstall(folder);
  const { stdout: uplink } = await run(folder, "npm", ["config", "get", "registry"]);
  const home = createProject("registry-home", { files: { "config.yaml": configuration(uplink.trim()) } });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const bin = join(folder, "node_modules/verdaccio/bin/verdaccio");
  const child = start(home, process.execPath, [bin, "--config", "config.yaml", "--listen", `127.0.0.1:${port}`]);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk));
  while (!(await answers(url))) {
    if (child.exitCode !== null) throw new Error(`the registry did not start:\n${said}`);
    await sleep(100);
  }
  const token = await register(url);
  return { url, token, npmrc: (address = url) => npmrc(address, token) };
}

function npmrc(url, token) {
  return `@toolcrib:registry=${url}\n${url.slice("http:".length)}:_authToken=${token}\n`;
}

async function freePort() {
  const socket = createSocket().listen(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address();
  socket.close();
  await once(socket, "close");
  return port;
}

async function answers(url) {
  return await fetch(`${url}-/ping`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function register(url) {
  const name = "publisher";
  const answer = await fetch(`${url}-/user/org.couchdb.user:${name}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name, password: "only for this run", type: "user" }),
  });
  const { token } = await answer.json();
  if (!token) throw new Error(`the registry gave no token: ${answer.status}`);
  return token;
}

/** Runs `work` with the address of a registry that fails when `name` is published. */
export async function withBrokenRegistry(url, name, work) {
  const broken = createServer((incoming, response) => {
    if (incoming.method === "PUT" && decodeURIComponent(incoming.url).includes(name)) {
      incoming.resume();
      response.writeHead(403, { "content-type": "application/json" });
      response.end('{"error":"the registry is out of order"}');
      return;
    }
    const { method, headers } = incoming;
    const onward = request(new URL(incoming.url, url), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    incoming.pipe(onward);
  }).listen(0, "127.0.0.1");
  await once(broken, "listening");
  try {
    return await work(`http://127.0.0.1:${broken.address().port}/`);
  } finally {
    broken.closeAllConnections();
    broken.close();
  }
}
