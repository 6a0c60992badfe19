// The servers and the official clients as npm installs them, in folders that later runs find again.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createProject, npmInstall } from "../consumers/project.mjs";

export const { clients, servers } = JSON.parse(readFileSync(new URL("servers.json", import.meta.url), "utf8"));
const folder = fileURLToPath(new URL("../.neighbours/", import.meta.url));
const recorder = fileURLToPath(new URL("recorder.mjs", import.meta.url));

/** The beginning of a command without a network; empty if the system has none. */
const isolation = [["unshare", "-n"], ["unshare", "-rn"], []].find(
  ([program, ...flags]) => !program || spawnSync(program, [...flags, "true"]).status === 0,
);
if (isolation.length === 0) console.log("unshare does not work here: servers may reach the network");
// Some servers listen on loopback.
else isolation.push("sh", "-c", 'ip link set lo up 2>/dev/null; exec "$@"', "sh");

/** A pixel. */
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const files = {
  "notes.md": "# Notes\n\nBuy milk.\n",
  "picture.svg": '<svg xmlns="http://www.w3.org/2000/svg"><title>A picture</title></svg>\n',
  kubeconfig: JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "none", cluster: { server: "https://127.0.0.1:9" } }],
    contexts: [{ name: "none", context: { cluster: "none", user: "none" } }],
    "current-context": "none",
    users: [{ name: "none", user: {} }],
  }),
};

async function install(name, dependencies) {
  const place = join(folder, name);
  if (existsSync(join(place, "installed"))) return place;
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "package.json"), JSON.stringify({ private: true, dependencies }));
  await npmInstall(place);
  writeFileSync(join(place, "installed"), "");
  return place;
}

/** Installs a server. Gives the entry of `mcpServers` that starts it without a network, its calls, and what it wrote since it was asked. */
export async function installServer(server) {
  const { name: short, package: name, version, args = [], env = {}, calls } = server;
  const place = await install(`${name.replace("/", "+")}-${version}`, { [name]: version });
  const home = createProject(short, { files });
  writeFileSync(join(home, "picture.png"), Buffer.from(picture, "base64"));
  const filled = (value) => JSON.parse(JSON.stringify(value).replaceAll("{folder}", home));
  const root = join(place, "node_modules", name);
  const { bin } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const program = join(root, typeof bin === "string" ? bin : Object.values(bin)[0]);
  const [command, ...rest] = [...isolation, process.execPath, program, ...filled(args)];
  const log = join(home, "..", `${short}.log`);
  writeFileSync(log, "");
  const entry = { env: { HOME: home, PATH: process.env.PATH, ...filled(env) }, cwd: home };
  let read = 0;
  return {
    entry: { command, args: rest, ...entry },
    recorded: { command: process.execPath, args: [recorder, log, command, ...rest], ...entry },
    calls: filled(calls),
    secrets: Object.values(env).filter((value) => value.includes("dummy")),
    written() {
      const lines = readFileSync(log, "utf8").split("\n").slice(read, -1);
      read += lines.length;
      return lines.flatMap(messageOf);
    },
  };
}

/** Some servers also write lines that are no messages. */
function messageOf(line) {
  try {
    return [JSON.parse(line)].filter((message) => message?.jsonrpc === "2.0");
  } catch {
    return [];
  }
}

const clientModules = {
  "@modelcontextprotocol/client": ["@modelcontextprotocol/client", "@modelcontextprotocol/client/stdio"],
  "@modelcontextprotocol/sdk": [
    "@modelcontextprotocol/sdk/client/index.js",
    "@modelcontextprotocol/sdk/client/stdio.js",
  ],
};

/** Lists a server's tools by an official client, as they came. */
export async function listOfficially(client, { command, args, env, cwd }) {
  const load = createRequire(join(await install("clients", clients), "package.json"));
  const [main, stdio] = clientModules[client];
  const { Client } = load(main);
  const { StdioClientTransport } = load(stdio);
  const transport = new StdioClientTransport({ command, args, env, cwd, stderr: "ignore" });
  const one = new Client({ name: "neighbours", version: "1.0.0" });
  try {
    await one.connect(transport);
    const tools = [];
    let cursor;
    do {
      const page = await one.listTools(cursor === undefined ? undefined : { cursor });
      tools.push(...page.tools);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return tools;
  } finally {
    await one.close();
  }
}
