import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { joinServers, projectConfigFile, requireServer, userConfigFile } from "../config.ts";

let folder = "";
let path = "";
const b = { command: "cmd", args: [] };

beforeEach(() => {
  folder = temporaryFolder("config");
  path = join(folder, ".mcp.json");
});

async function add(entry: { command: string; args: string[] } = b): Promise<string> {
  await projectConfigFile(folder).change("b", () => entry);
  return readFileSync(path, "utf8");
}

async function remove(name: string): Promise<string> {
  await projectConfigFile(folder).change(name, () => undefined);
  return readFileSync(path, "utf8");
}

test("an added and removed server leaves comments, order and indentation of the rest as they are", async () => {
  const before =
    '\ufeff{\n\t// ours\n\t"mcpServers": {\n\t\t"a": { "command": "a" } /* first */\n\t},\n\t"note":   1\n}\n';
  writeFileSync(path, before);
  const entry = '\n\t\t"b": {\n\t\t\t"command": "cmd",\n\t\t\t"args": [\n\t\t\t\t"x"\n\t\t\t]\n\t\t}';
  expect(await add({ command: "cmd", args: ["x"] })).toBe(before.replace(" /* first */", `, /* first */${entry}`));
  expect(await remove("b")).toBe(before);
});

test("one entry is taken out, wherever it stands", async () => {
  const entries = ['"a": {"command": "x"}', '"b": {"command": "y"}', '"c": {"command": "z"}'];
  for (const [index, name] of ["a", "b", "c"].entries()) {
    const lines = (kept: readonly string[]): string => `{"mcpServers": {\n  ${kept.join(",\n  ")}\n}}`;
    writeFileSync(path, lines(entries));
    expect(await remove(name)).toBe(lines(entries.toSpliced(index, 1)));
  }
});

test.each([
  ["{}", '{\n  "mcpServers": {\n    "b": {\n      "command": "cmd",\n      "args": []\n    }\n  }\n}'],
  ['{"x":1}', '{"x":1,\n  "mcpServers": {\n    "b": {\n      "command": "cmd",\n      "args": []\n    }\n  }\n}'],
  [
    '{\r\n    "mcpServers": {}\r\n}',
    '{\r\n    "mcpServers": {\r\n        "b": {\r\n            "command": "cmd",\r\n            "args": []\r\n        }\r\n    }\r\n}',
  ],
])("a server is added to %j", async (before, after) => {
  writeFileSync(path, before);
  expect(await add()).toBe(after);
});

test("a key that occurs twice is refused, and the file stays", async () => {
  const text = '{ "mcpServers": {}, "mcpServers": {} }';
  writeFileSync(path, text);
  await expect(add()).rejects.toMatchObject({
    code: "bad_config_file",
    message: ".mcp.json: it has a key twice, so b cannot be changed; correct it first",
  });
  expect(readFileSync(path, "utf8")).toBe(text);
});

test("twenty changes at once lose no entry and leave no lock", async () => {
  const names = Array.from({ length: 20 }, (_, index) => `s${index}`);
  await Promise.all(names.map((name) => projectConfigFile(folder).change(name, () => b)));
  expect(Object.keys((await projectConfigFile(folder).read()).mcpServers).sort()).toEqual(names.sort());
  expect(readdirSync(folder)).toEqual([".mcp.json"]);
});

test("without a file there are no servers; a field under __proto__ gives an entry nothing", async () => {
  expect(await projectConfigFile(folder).read()).toEqual({ mcpServers: {} });
  writeFileSync(path, '{ "mcpServers": { "a": { "disabled": true, "__proto__": { "command": "x" } } } }');
  const { mcpServers } = await projectConfigFile(folder).read();
  expect((mcpServers.a as { command?: string }).command).toBeUndefined();
});

test.each([
  ["{ nope", '.mcp.json is not valid JSON: unexpected "n" at character 3, after {'],
  ["{} /* mine", '.mcp.json is not valid JSON: unexpected "/" at character 4, after {}'],
  ['{ / "mcpServers": {} }', '.mcp.json is not valid JSON: unexpected "/" at character 3, after {'],
  ['{ "mcpServers": /*/ {} }', '.mcp.json is not valid JSON: unexpected "/" at character 17, after { "mcpServers":'],
  ["[]", '.mcp.json: expected { "mcpServers": { NAME: { … } } }; correct it or move it away'],
  ['{"mcpServers":{"a":1}}', '.mcp.json: the entry "a" is not an object; correct or remove it'],
  [`{}${" ".repeat(2 ** 20)}`, ".mcp.json: it holds more than 1 MB, the most that is read; use a smaller one"],
])("%.30j is refused by its name", async (text, message) => {
  writeFileSync(path, text);
  await expect(projectConfigFile(folder).read()).rejects.toMatchObject({ code: "bad_config_file", message });
});

test("a server that is not in the file is named, with the nearest that is", () => {
  expect(() => requireServer({ web: {} }, "wev", ".mcp.json")).toThrow("wev is not in .mcp.json; did you mean web?");
  expect(() => requireServer({}, "toString", ".mcp.json")).toThrow("toString is not in .mcp.json; there are none");
});

test("the user's own file is read, changed as the user wrote it, and made for the user alone", async () => {
  const own = join(folder, "config", "toolcrib", "mcp.json");
  const file = userConfigFile(own);
  expect(await file.read()).toEqual({ mcpServers: {} });
  await file.change("a", () => b);
  expect(statSync(own).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, "config", "toolcrib")).mode & 0o777).toBe(0o700);
  writeFileSync(own, '{ // mine\n  "mcpServers": {}\n}');
  await file.change("a", () => b);
  expect(readFileSync(own, "utf8")).toMatch(/^\{ \/\/ mine\n/);
  expect(Object.keys((await file.read()).mcpServers)).toEqual(["a"]);
});

test("a file of the user's that others can write, or a link, is refused by its name, and not changed", async () => {
  const own = join(folder, "mcp.json");
  writeFileSync(own, "{}");
  chmodSync(own, 0o666);
  const message = new RegExp(`^${own}: the file that stores your own MCP servers is not trusted: others can write it`);
  const refused = { code: "bad_config_file", message: expect.stringMatching(message) };
  await expect(userConfigFile(own).read()).rejects.toMatchObject(refused);
  await expect(userConfigFile(own).change("a", () => b)).rejects.toMatchObject(refused);
  expect(readFileSync(own, "utf8")).toBe("{}");
  symlinkSync(own, join(folder, "link.json"));
  await expect(userConfigFile(join(folder, "link.json")).read()).rejects.toThrow(/it is a link/);
});

test("an allowed server of a project stands in for the user's of the same name, and is named", () => {
  const user = {
    mcpServers: { a: { command: "mine" }, b: { command: "mine" }, off: { command: "x", disabled: true } },
  };
  const project = { mcpServers: { a: { command: "theirs" }, b: { command: "theirs", disabled: true } } };
  expect(joinServers(user, project)).toEqual({
    config: { mcpServers: { a: { command: "theirs" }, b: { command: "mine" } } },
    replaced: ["a"],
  });
});
