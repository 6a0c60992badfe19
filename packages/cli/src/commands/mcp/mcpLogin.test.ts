import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { serveMcp } from "@toolcrib/mcp";
import {
  AuthorizationServer,
  type ProgramEnd,
  type ProtectedServer,
  protect,
  temporaryFolder,
} from "@toolcrib/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { command } from "../../../fixtures/command.ts";

let folder = "";
let state = "";
let authorization: AuthorizationServer;
let server: ProtectedServer;
const cleanups: (() => unknown)[] = [];

beforeEach(async () => {
  folder = temporaryFolder("login");
  state = temporaryFolder("state");
  authorization = await AuthorizationServer.start();
  const greet = {
    name: "greet",
    getSchema: () => ({
      type: "function" as const,
      function: { name: "greet", description: "Says hello.", parameters: { type: "object" } },
    }),
    execute: async () => "hello",
  };
  const serving = await serveMcp(new ToolRegistry([greet]), { http: {} });
  server = await protect(String(serving.url), String(serving.token), authorization);
  cleanups.push(
    () => authorization.close(),
    () => serving.close(),
    () => server.close(),
  );
  await toolcrib("mcp", "add", "web", server.url);
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const environment = (): Record<string, string> => ({
  XDG_STATE_HOME: state,
  XDG_CONFIG_HOME: join(state, "config"),
  // No browser.
  DISPLAY: "",
  WAYLAND_DISPLAY: "",
});

function toolcrib(...args: string[]): Promise<ProgramEnd> {
  return command(args, { cwd: folder, env: environment() });
}

/** Runs `mcp login`, and follows the address that it prints, as the user would. */
async function logIn(...flags: string[]): Promise<ProgramEnd> {
  const program = command.start(["mcp", "login", "web", ...flags], { cwd: folder, env: environment() });
  const noted = await program.printed("/authorize?");
  await fetch(String(/http\S+authorize\?\S+/.exec(noted)?.[0]));
  return program.ended;
}

test("a server that asks for a login says the command; after it its tools can be called; after logout it asks again", async () => {
  const needs = "MCP server web asks for a login: toolcrib mcp login web";
  expect(await toolcrib("mcp", "test")).toMatchObject({ code: 1, stdout: "", stderr: `${needs}\n` });
  const { code, stdout, stderr } = await logIn("--no-browser");
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(stderr).toMatch(/^Open in a browser the login page of http:\/\/127\.0\.0\.1:\d+:\n/);
  expect(stderr).toContain(`Logged in to web through ${authorization.url}; toolcrib mcp logout web ends that\n`);
  expect(await toolcrib("tools", "call", "--mcp", "mcp__web__greet")).toMatchObject({ code: 0, stdout: "hello" });
  const out = await toolcrib("mcp", "logout", "web");
  expect(out).toMatchObject({ code: 0, stderr: "Logged out of web\n" });
  expect(authorization.tokens.size).toBe(0);
  expect((await toolcrib("mcp", "test")).stderr).toBe(`${needs}\n`);
  expect((await toolcrib("mcp", "logout", "web")).stderr).toBe("There is no login to web\n");
});

test("the tokens are kept where only the user can read them, and are printed by no command", async () => {
  const login = await logIn();
  const file = join(state, "toolcrib", "logins.json");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const [kept] = Object.values(JSON.parse(readFileSync(file, "utf8")).logins) as Record<string, string>[];
  const ends = [
    login,
    await toolcrib("mcp", "list"),
    await toolcrib("mcp", "list", "--json"),
    await toolcrib("mcp", "test"),
  ];
  authorization.tokens.clear();
  ends.push(await toolcrib("tools", "call", "--mcp", "mcp__web__greet", "--json"));
  for (const { stdout, stderr } of ends) {
    for (const secret of [kept?.accessToken, kept?.refreshToken]) expect(stdout + stderr).not.toContain(secret);
  }
  expect(readdirSync(folder)).toEqual([".mcp.json"]);
});

test("no tool reads or changes the file of tokens, whatever is allowed", async () => {
  await logIn();
  const file = join(state, "toolcrib", "logins.json");
  const before = readFileSync(file, "utf8");
  const secret = /access-|refresh-/;
  for (const root of [folder, state]) {
    for (const words of [
      ["write_file", "--path", file, "--content", "{}"],
      ["read_file", "--path", file],
      ["search_text", "--query", "accessToken", "--paths", state],
    ]) {
      const { stdout, stderr } = await toolcrib("tools", "call", "--root", root, "--mode", "full", ...words);
      expect(stdout + stderr, words.join(" ")).not.toMatch(secret);
    }
  }
  expect(readFileSync(file, "utf8")).toBe(before);
});

test("Ctrl-C ends a login that nobody answers; exit 130", async () => {
  const program = command.start(["mcp", "login", "web"], { cwd: folder, env: environment() });
  await program.printed("/authorize?");
  program.signal("SIGINT");
  expect((await program.ended).code).toBe(130);
});

test.each([
  [["login", "nope"], /nope is not in \.mcp\.json; there are web, cmd, unset/],
  [["login", "cmd"], /cmd: only a server at an address has a login/],
  [["login", "web", "--port", "x"], /--port x: expected a port/],
  [["login", "unset"], /MCP server unset: the environment variable NOT_SET_HERE is not set/],
  [["logout", "nope"], /nope is not in \.mcp\.json/],
])("toolcrib mcp %j is refused in one sentence; exit 2", async (args, says) => {
  await toolcrib("mcp", "add", "cmd", "some-command");
  await toolcrib("mcp", "add", "unset", `https://example.com/\${NOT_SET_HERE}`);
  const { code, stderr } = await toolcrib("mcp", ...args);
  expect(stderr).toMatch(says);
  expect({ code, lines: stderr.trim().split("\n").length }).toEqual({ code: 2, lines: 1 });
});
