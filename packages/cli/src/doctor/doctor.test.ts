import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ProgramEnd, temporaryServer } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { homeFor } from "../../fixtures/command.ts";

const home = homeFor("doctor");
let address = "";
let headers: unknown[] = [];

beforeEach(async () => {
  headers = [];
  const url = await temporaryServer((request, response) => {
    headers.push(request.method, request.headers);
    response.writeHead(401).end();
  });
  address = `${url}/v1`;
});

/** Nothing listens there. */
const nowhere = { OLLAMA_HOST: "http://127.0.0.1:9" };
const doctor = (env: Record<string, string> = {}, ...args: readonly string[]): Promise<ProgramEnd> =>
  home.toolcrib(["doctor", ...args], { env: { ...nowhere, ...env } });
const writeUser = (text: string): string => home.write("config/toolcrib/config.json", text);

test("says of each thing how it is, in an empty folder without a key, and that this is no failure", async () => {
  const { stdout, code } = await doctor();
  expect(code).toBe(0);
  for (const title of ["This machine", "Model", "Sandbox", "Configuration", "MCP servers", "Installed packages"])
    expect(stdout).toContain(`${title}\n`);
  expect(stdout).toMatch(/✓ toolcrib \d+\.\d+\.\d+, Node\.js \d+/);
  expect(stdout).toContain("! no model is connected\n    what to do: one of these: set OPENAI_API_KEY");
  expect(stdout).toContain("• no MCP servers\n");
  expect(stdout).toContain("• no toolcrib package is installed in this directory or above\n");
});

test("a key is said to be set, and neither it nor a part of it is shown or sent", async () => {
  const key = "sk-proj-doNotShow123456";
  const env = { OPENAI_API_KEY: key, OPENAI_BASE_URL: address };
  const end = await doctor(env);
  expect(end.stdout).toContain("✓ OPENAI_API_KEY is set in the environment\n");
  expect(end.stdout).toContain(`✓ ${address} answers\n`);
  expect(end.stdout).toMatch(/✓ Using openai\/\S+: OPENAI_API_KEY is set\./);
  expect(headers[0]).toBe("HEAD");
  for (const text of [end.stdout, end.stderr, JSON.stringify(headers), (await doctor(env, "--json")).stdout])
    expect(text).not.toMatch(/sk-|doNotShow/);
});

test("a key with quotes around it, or an empty one, is a warning", async () => {
  const { stdout } = await doctor({ OPENAI_API_KEY: '"sk-x"', ANTHROPIC_API_KEY: " ", OPENAI_BASE_URL: address });
  expect(stdout).toContain("! OPENAI_API_KEY is set, with spaces or quotes in it\n    what to do: set it again");
  expect(stdout).toContain("! ANTHROPIC_API_KEY is set, but empty\n");
});

test("a service that cannot be reached is a problem, without the password in its address", async () => {
  const { stdout, code } = await doctor({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://user:secret@127.0.0.1:9/v1" });
  expect(stdout).toMatch(
    /✗ http:\/\/\S*127\.0\.0\.1:9\/v1 cannot be reached \(.+\)\n {4}what to do: check the network/,
  );
  expect(stdout).not.toContain("secret");
  expect(code).toBe(1);
});

test("a configuration that is wrong is a problem and no crash; one that is not trusted a warning, and is not asked about", async () => {
  writeUser(`{ "mode": "fast" }`);
  writeFileSync(home.at(".toolcrib.json"), `{ "model": "openai/x" }`);
  const { stdout, code } = await doctor();
  expect(stdout).toContain(`✗ ${join(home.base, "config", "toolcrib", "config.json")}:1: mode expected one of`);
  expect(stdout).toContain("! .toolcrib.json is not trusted, so it is not used\n    what to do: toolcrib config trust");
  expect(stdout).toContain("! no model is connected");
  expect(code).toBe(1);
  writeUser(`{ "model": "openai" }`);
  expect((await doctor({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: address })).stdout).toContain("is valid\n");
});

test("servers are started where they are allowed, and only there", async () => {
  const broken = { command: process.execPath, args: ["-e", "process.exit(3)"] };
  writeFileSync(home.at(".mcp.json"), JSON.stringify({ mcpServers: { broken } }));
  const waiting = await doctor();
  expect(waiting.stdout).toContain("! broken of .mcp.json is not allowed to start with its present entry\n");
  expect(waiting.code).toBe(0);
  home.write("config/toolcrib/mcp.json", JSON.stringify({ mcpServers: { mine: broken } }));
  const started = await doctor();
  expect(started.stdout).toMatch(/✗ .*mine.*\n {4}what to do: /);
  expect(started.code).toBe(1);
});

test.skipIf(process.platform === "win32")("a state folder that others can write is a problem", async () => {
  mkdirSync(join(home.base, "state", "toolcrib"), { recursive: true });
  chmodSync(join(home.base, "state", "toolcrib"), 0o777);
  const { stdout, code } = await doctor();
  // It is mended where something is kept in it, which comes later.
  expect(stdout).toMatch(/✗ \S+toolcrib: others can write it\n/);
  expect(code).toBe(1);
});

test("the versions of installed packages are told without asking a registry", async () => {
  const installed = home.at("node_modules/@toolcrib/core");
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(installed, "package.json"), JSON.stringify({ name: "@toolcrib/core", version: "0.1.0" }));
  writeFileSync(home.at(".npmrc"), `registry=${address}\n`);
  const { stdout } = await doctor();
  expect(stdout).toContain("✓ @toolcrib/core 0.1.0\n");
  expect(headers).toEqual([]);
});

test("--json holds the same, by check", async () => {
  const found = JSON.parse((await doctor({}, "--json")).stdout);
  expect(Object.keys(found)).toEqual(["ok", "machine", "model", "sandbox", "config", "servers", "packages"]);
  expect(found.machine.data.node).toMatch(/^\d+\./);
  for (const { findings } of Object.values(found).slice(1) as { findings: { level: string }[] }[])
    expect(findings.every(({ level }) => /^(?:ok|note|warning|problem)$/.test(level))).toBe(true);
});
