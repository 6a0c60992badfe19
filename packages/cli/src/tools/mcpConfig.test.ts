import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ProgramEnd, startProgram, temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";

const bin = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));
let folder = "";
let state = "";

beforeEach(() => {
  folder = temporaryFolder("config");
  state = temporaryFolder("state");
});

function toolcrib(...args: string[]): Promise<ProgramEnd> {
  return startProgram(bin, ["mcp", ...args], { cwd: folder, env: { XDG_STATE_HOME: state } }).ended;
}

test("mcp add and remove leave comments, order and indentation of the rest as they are", async () => {
  const file = join(folder, ".mcp.json");
  const before =
    '\ufeff{\n\t// ours\n\t"mcpServers": {\n\t\t"a": { "command": "a" } /* first */\n\t},\n\t"note":   1\n}\n';
  writeFileSync(file, before);
  expect((await toolcrib("add", "b", "cmd", "--", "x")).code).toBe(0);
  const added = readFileSync(file, "utf8");
  const entry = '\n\t\t"b": {\n\t\t\t"command": "cmd",\n\t\t\t"args": [\n\t\t\t\t"x"\n\t\t\t]\n\t\t}';
  expect(added).toBe(before.replace(" /* first */", `, /* first */${entry}`));
  expect((await toolcrib("remove", "b")).code).toBe(0);
  expect(readFileSync(file, "utf8")).toBe(before);
});

test("mcp remove takes out one entry, wherever it stands", async () => {
  const entries = ['"a": {"command": "x"}', '"b": {"command": "y"}', '"c": {"command": "z"}'];
  for (const [index, name] of ["a", "b", "c"].entries()) {
    const lines = (kept: readonly string[]): string => `{"mcpServers": {\n  ${kept.join(",\n  ")}\n}}`;
    writeFileSync(join(folder, ".mcp.json"), lines(entries));
    await toolcrib("remove", name);
    expect(readFileSync(join(folder, ".mcp.json"), "utf8")).toBe(lines(entries.toSpliced(index, 1)));
  }
});

test.each([
  ["{}", '{\n  "mcpServers": {\n    "b": {\n      "command": "cmd",\n      "args": []\n    }\n  }\n}'],
  ['{"x":1}', '{"x":1,\n  "mcpServers": {\n    "b": {\n      "command": "cmd",\n      "args": []\n    }\n  }\n}'],
  [
    '{\r\n    "mcpServers": {}\r\n}',
    '{\r\n    "mcpServers": {\r\n        "b": {\r\n            "command": "cmd",\r\n            "args": []\r\n        }\r\n    }\r\n}',
  ],
])("mcp add to %j", async (before, after) => {
  writeFileSync(join(folder, ".mcp.json"), before);
  await toolcrib("add", "b", "cmd");
  expect(readFileSync(join(folder, ".mcp.json"), "utf8")).toBe(after);
});

test("a key that occurs twice is refused", async () => {
  const text = '{ "mcpServers": {}, "mcpServers": {} }';
  writeFileSync(join(folder, ".mcp.json"), text);
  const { code, stderr } = await toolcrib("add", "b", "cmd");
  expect(stderr).toMatch(/it has a key twice/);
  expect(code).toBe(2);
  expect(readFileSync(join(folder, ".mcp.json"), "utf8")).toBe(text);
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
