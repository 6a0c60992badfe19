import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { McpServerConfig } from "@toolcrib/mcp";
import type { ProgramEnd } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { homeFor } from "../../fixtures/command.ts";
import type { Program } from "../program.ts";
import { findFolders } from "../state/folders.ts";
import { ownTrust } from "../state/ownTrust.ts";
import { allowedServers } from "./mcpMount.ts";
import { ownLogins } from "./ownLogins.ts";

const home = homeFor("consent");
const toolcrib = (args: readonly string[], env: Record<string, string> = {}): Promise<ProgramEnd> =>
  home.toolcrib(args, { env });

/** A server that leaves a file behind when it is started, with the variable it was given. */
function writeConfig(extra: object = {}): void {
  const script = `require("fs").writeFileSync("started", process.env.GIVEN ?? "")`;
  const server = {
    command: process.execPath,
    args: ["-e", script],
    cwd: home.folder,
    env: { GIVEN: `\${SECRET}` },
    ...extra,
  };
  writeFileSync(home.at(".mcp.json"), JSON.stringify({ mcpServers: { evil: server } }));
}
const started = (): boolean => existsSync(home.at("started"));

test("a wrong rule is reported before any server is started", async () => {
  writeConfig();
  await toolcrib(["mcp", "allow", "evil"]);
  const { code, stderr } = await toolcrib(["run", "list .", "-m", "offline", "--mcp", "--allow", "write_file("], {
    SECRET: "s3cret",
  });
  expect(stderr).toMatch(/--allow\b.*write_file\(/);
  expect({ code, started: started() }).toEqual({ code: 2, started: false });
});

describe("without a terminal, a server that was not allowed is not started", () => {
  test.each([
    ["run", ["run", "list .", "-m", "offline", "--mcp"]],
    ["chat", ["chat", "-m", "offline", "--mcp"]],
    ["mcp test", ["mcp", "test"]],
  ])("%s is refused, with the command that allows it", async (_, args) => {
    writeConfig();
    const end = await toolcrib(args, { SECRET: "s3cret" });
    expect(end.stderr).toMatch(/evil is not allowed to start with its present entry.*toolcrib mcp allow evil\n$/);
    expect(end.stderr).not.toContain("s3cret");
    expect({ code: end.code, started: started() }).toEqual({ code: 4, started: false });
  });

  test("mcp allow shows what would run, and holds for this folder and this content only", async () => {
    writeConfig();
    const { stderr, code } = await toolcrib(["mcp", "allow", "evil"], { SECRET: "s3cret" });
    expect(stderr).toContain(`evil runs ${process.execPath} -e`);
    expect(stderr).toMatch(/with GIVEN=\$\{SECRET\}\n.*from your environment: SECRET \(into env\.GIVEN\)/);
    expect({ code, started: started() }).toEqual({ code: 0, started: false });
    await toolcrib(["mcp", "test"], { SECRET: "s3cret" });
    expect(readFileSync(home.at("started"), "utf8")).toBe("s3cret");
  });

  test("a changed entry, and the same entry in another folder, ask again", async () => {
    writeConfig();
    await toolcrib(["mcp", "allow", "evil"]);
    writeConfig({ args: ["-e", `require("fs").writeFileSync("started", "other")`] });
    expect((await toolcrib(["mcp", "list"])).stdout).toMatch(/evil .*\(changed\)/);
    expect((await toolcrib(["mcp", "test"])).code).toBe(4);
    writeConfig();
    const elsewhere = join(home.base, "elsewhere");
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, ".mcp.json"), readFileSync(home.at(".mcp.json")));
    const { code } = await home.toolcrib(["mcp", "test"], { cwd: elsewhere });
    expect({ code, started: started() }).toEqual({ code: 4, started: false });
  });

  test("fields under __proto__ are part of what is allowed, and start nothing", async () => {
    writeFileSync(home.at(".mcp.json"), '{ "mcpServers": { "a": { "disabled": false } } }');
    await toolcrib(["mcp", "allow", "a"]);
    const script = `require('fs').writeFileSync('started', '')`;
    writeFileSync(
      home.at(".mcp.json"),
      `{ "mcpServers": { "a": { "disabled": false, "__proto__": { "command": "${process.execPath}", "args": ["-e", "${script}"] } } } }`,
    );
    const { code } = await toolcrib(["mcp", "test"]);
    expect({ code, started: started() }).toEqual({ code: 4, started: false });
  });

  test("mcp add allows the server it adds; mcp remove forgets that", async () => {
    const script = ["-e", `require("fs").writeFileSync("started", "")`];
    await toolcrib(["mcp", "add", "own", "--", process.execPath, ...script]);
    const added = readFileSync(home.at(".mcp.json"));
    await toolcrib(["mcp", "test"]);
    expect(started()).toBe(true);
    await toolcrib(["mcp", "remove", "own"]);
    writeFileSync(home.at(".mcp.json"), added);
    expect((await toolcrib(["mcp", "test"])).code).toBe(4);
  });
});

describe("on a terminal, the user is asked", () => {
  const url: McpServerConfig = {
    type: "http",
    url: `https://u:hunter22@evil.example/?k=\${API_KEY}`,
    headers: { "X-Key": "abc123" },
  };

  async function ask(answer: string, server: McpServerConfig): Promise<{ asked: string; servers: string[] }> {
    let asked = "";
    const note = (line: string): void => {
      asked += `${line}\n`;
    };
    const folders = findFolders(home.env);
    const program = { folders, trust: ownTrust(folders, note), cwd: home.folder, terminal: { note, aside: note } };
    const { mcpServers } = await allowedServers(
      { mcpServers: { web: server, off: { command: "x", disabled: true } } },
      program as unknown as Program,
      {
        size: { columns: 80, rows: 24 },
        ask: async (question) => {
          note(question);
          return answer;
        },
      },
    );
    return { asked, servers: Object.keys(mcpServers) };
  }

  test("with the addresses and the variables that the server would get, without secrets", async () => {
    const { asked } = await ask("n", url);
    expect(asked).toContain(`web connects to https://[redacted]@evil.example/?k=\${API_KEY}`);
    expect(asked).toContain("with the headers X-Key");
    expect(asked).toContain("API_KEY (into url)");
    expect(asked).not.toMatch(/hunter22|abc123/);
  });

  test("with the login that the server would get", async () => {
    const server: McpServerConfig = { type: "http", url: "https://mcp.example/mcp" };
    expect((await ask("n", server)).asked).not.toContain("login");
    const login = { issuer: "i", tokenEndpoint: "t", clientId: "c", accessToken: "access-1" };
    await ownLogins(findFolders(home.env)).save(new URL(server.url), login);
    expect((await ask("n", server)).asked).toContain("https://mcp.example/mcp\n  with your login there\n");
  });

  test.each([
    ["y", ["web"]],
    ["YES ", ["web"]],
    ["n", []],
    ["", []],
    ["yy", []],
  ])("the answer %j allows %j", async (answer, servers) => {
    expect((await ask(answer, url)).servers).toEqual(servers);
  });

  test("a yes is kept for the entry as it is; a no is asked again", async () => {
    await ask("n", url);
    expect((await ask("y", url)).asked).toContain("is not allowed yet");
    expect((await ask("n", url)).asked).toBe("");
    const { asked, servers } = await ask("n", { ...url, url: "https://other.example" });
    expect(asked).toContain("has changed since it was allowed");
    expect(servers).toEqual([]);
  });

  test("invisible characters are shown by their codes", async () => {
    const { asked } = await ask("n", { command: "ls\u200b", args: ["a\u202eb", "\u3164"] });
    expect(asked).toContain(`"ls<U+200B>" "a<U+202E>b" "<U+3164>"`);
  });

  test("an entry that is too long for the screen is refused without a question", async () => {
    const long = { command: "ls", args: ["x".repeat(10_000)] };
    await expect(ask("y", long)).rejects.toThrow(/too long to show on this screen.*toolcrib mcp allow/);
  });

  test("an answer that cannot be saved counts once, and a note says so", async () => {
    writeFileSync(home.state, "");
    const { asked, servers } = await ask("y", url);
    expect(servers).toEqual(["web"]);
    expect(asked).toMatch(/could not be saved for the next time/);
  });
});
