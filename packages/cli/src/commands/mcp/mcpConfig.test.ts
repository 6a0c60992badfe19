import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ProgramEnd, sharedCommand, temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";

const bin = fileURLToPath(new URL("../../../dist/bin.js", import.meta.url));
const command = sharedCommand(bin);
let folder = "";
let state = "";

beforeEach(() => {
  folder = temporaryFolder("config");
  state = temporaryFolder("state");
});

function toolcrib(...args: string[]): Promise<ProgramEnd> {
  return command(["mcp", ...args], { cwd: folder, env: { XDG_STATE_HOME: state } });
}

test("a key that occurs twice is refused", async () => {
  const text = '{ "mcpServers": {}, "mcpServers": {} }';
  writeFileSync(join(folder, ".mcp.json"), text);
  const { code, stderr } = await toolcrib("add", "b", "cmd");
  expect(stderr).toMatch(/it has a key twice/);
  expect(code).toBe(2);
  expect(readFileSync(join(folder, ".mcp.json"), "utf8")).toBe(text);
});

test.each(["null", "3", "[]"])("an entry that is %s is named, and mcp remove takes it out", async (entry) => {
  writeFileSync(join(folder, ".mcp.json"), `{ "mcpServers": { "good": { "command": "x" }, "bad": ${entry} } }`);
  expect(await toolcrib("list")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('the entry "bad" is not an object'),
  });
  expect(await toolcrib("remove", "bad")).toMatchObject({ code: 0 });
  expect((await toolcrib("list")).stdout).toContain("good");
});

test("an entry without a command is not allowed, and said to have none", async () => {
  writeFileSync(join(folder, ".mcp.json"), '{ "mcpServers": { "n": { "args": ["x"] } } }');
  const { code, stderr } = await toolcrib("allow", "n");
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: "toolcrib: n in .mcp.json has neither a command nor a url; correct it, or: toolcrib mcp remove n\n",
  });
  expect((await toolcrib("list")).stdout).not.toContain("undefined");
});

test("twenty concurrent mcp add lose no entry and leave no lock", async () => {
  const names = Array.from({ length: 20 }, (_, index) => `s${index}`);
  const ends = await Promise.all(names.map((name) => toolcrib("add", name, "cmd")));
  expect(ends.map(({ code }) => code)).toEqual(names.map(() => 0));
  const { mcpServers } = JSON.parse(readFileSync(join(folder, ".mcp.json"), "utf8"));
  expect(Object.keys(mcpServers).sort()).toEqual(names.sort());
  expect(readdirSync(folder).sort()).toEqual([".mcp.json"]);
  expect((await toolcrib("list")).stdout).not.toContain("not allowed");
});

test("mcp list shows no password, key or header value, also as JSON", async () => {
  writeFileSync(
    join(folder, ".mcp.json"),
    JSON.stringify({
      mcpServers: {
        web: { url: "https://me:hunter22@example.com/mcp?key=abc123#frag77", headers: { "X-Key": "plain-value" } },
        db: {
          command: "db",
          args: [
            "postgres://me:hunter22@db/x",
            "--api-key",
            "abc123",
            "--token=abc123",
            "sk-0123456789abcdef0123",
            "-v",
          ],
          env: { TOKEN: "abc123", HOME_OF: "plain-value", FROM: `\${FROM}` },
        },
      },
    }),
  );
  for (const args of [["list"], ["list", "--json"]]) {
    const { stdout } = await toolcrib(...args);
    expect(stdout).not.toMatch(/hunter22|abc123|frag77|plain-value|0123456789/);
    expect(stdout).toContain("https://[redacted]@example.com/mcp?key=[redacted]#[redacted]");
    expect(stdout).toContain("-v");
  }
});

test("mcp list shows what else an entry that is not allowed yet sets, by name, and what cannot be seen as codes", async () => {
  writeFileSync(
    join(folder, ".mcp.json"),
    JSON.stringify({
      mcpServers: { time: { command: "npx", args: ["a\u001b]0;x"], env: { NODE_OPTIONS: "--require=./evil.cjs" } } },
    }),
  );
  const { stdout } = await toolcrib("list");
  expect(stdout).toContain("a<U+001B>]0;x");
  expect(stdout).toContain("\n  with NODE_OPTIONS=");
});
