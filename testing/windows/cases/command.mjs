// The toolcrib command: its answers and exit codes, where it keeps what it keeps, colours, and its start by npm's script for cmd.exe.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { newFolder, runTests, test } from "../harness.mjs";

const cli = fileURLToPath(new URL("../../node_modules/@toolcrib/cli/", import.meta.url));
const { version } = JSON.parse(readFileSync(join(cli, "package.json"), "utf8"));
const base = newFolder();
const [root, local, roaming] = [join(base, "r\u00f6ot"), join(base, "Local"), join(base, "Roaming")];
for (const folder of [root, local, roaming]) mkdirSync(folder);
writeFileSync(join(root, "a.txt"), "one\r\nz\u00fcrich \u65e5\u672c\r\n");
const { FORCE_COLOR: _force, NO_COLOR: _no, ...inherited } = process.env;

/** Runs the command as a user's shell would. */
function toolcrib(words, { env = {}, input = "" } = {}) {
  const variables = { ...inherited, LOCALAPPDATA: local, APPDATA: roaming, ...env };
  const options = { cwd: root, env: variables, input, encoding: "utf8", windowsHide: true, timeout: 60_000 };
  return spawnSync(process.execPath, [join(cli, "dist/bin.js"), ...words], options);
}

function succeed(words, options) {
  const run = toolcrib(words, options);
  assert.equal(run.status, 0, `${words.join(" ")}: ${run.error ?? run.stdout + run.stderr}`);
  return run;
}

test("--version", () => {
  assert.equal(succeed(["--version"]).stdout, `${version}\n`);
});

test("run answers on standard output, and keeps the conversation in %LOCALAPPDATA%", () => {
  const { stdout } = succeed(["run", "-m", "offline", "read a.txt"]);
  assert.match(stdout, /z\u00fcrich \u65e5\u672c/);
  assert.ok(readdirSync(join(local, "toolcrib", "sessions")).length > 0);
  assert.ok(existsSync(join(local, "toolcrib", "compiled")));
});

test("run goes on with the last conversation, and takes what is piped in", () => {
  assert.match(succeed(["run", "-m", "offline", "-c", "list ."]).stdout, /a\.txt/);
  assert.match(succeed(["run", "-m", "offline"], { input: "list .\r\n" }).stdout, /a\.txt/);
});

test("sessions lists, shows and deletes conversations", () => {
  const list = () => JSON.parse(succeed(["sessions", "list", "--json"]).stdout);
  const before = list().length;
  assert.ok(before > 0);
  assert.match(succeed(["sessions", "show", "1"]).stdout, /list \./);
  succeed(["sessions", "delete", "1"]);
  assert.equal(list().length, before - 1);
});

test("tools call gives what the tool gives, byte for byte, and errors on standard error", () => {
  assert.equal(
    succeed(["tools", "call", "read_file", "--path", "A.TXT"]).stdout,
    "one\r\nz\u00fcrich \u65e5\u672c\r\n",
  );
  const refused = toolcrib(["tools", "call", "read_file", "--path", "..\\secret"]);
  assert.deepEqual([refused.status, refused.stdout], [4, ""]);
  assert.match(refused.stderr, /is outside/);
  const device = toolcrib(["tools", "call", "write_file", "--path", "nul", "--content", "x"]);
  assert.match(device.stderr, /names a device of Windows/);
});

test("tools list names the tools as data", () => {
  const names = JSON.stringify(JSON.parse(succeed(["tools", "list", "--json"]).stdout));
  for (const name of ["read_file", "search_text", "edit_file"]) assert.ok(names.includes(name), name);
});

test("config sets, gives and forgets a value in %APPDATA%", () => {
  assert.equal(succeed(["config", "path"]).stdout.trim(), join(roaming, "toolcrib", "config.json"));
  succeed(["config", "set", "mode", "read-only"]);
  assert.equal(succeed(["config", "get", "mode"]).stdout, "read-only\n");
  succeed(["config", "unset", "mode"]);
  assert.doesNotMatch(readFileSync(join(roaming, "toolcrib", "config.json"), "utf8"), /read-only/);
});

test("config edit starts the editor by its line, with a space in its path", () => {
  const editor = join(base, "my editor.mjs");
  const write = `import { writeFileSync } from "node:fs"; writeFileSync(process.argv[3], process.argv[2]);`;
  writeFileSync(editor, write);
  const EDITOR = `"${process.execPath}" "${editor}" {}`;
  succeed(["config", "edit"], { env: { EDITOR, VISUAL: "" } });
  assert.equal(readFileSync(join(roaming, "toolcrib", "config.json"), "utf8"), "{}");
});

test("doctor looks at all of it, and says what is wrong", () => {
  const { status, stdout, stderr } = toolcrib(["doctor", "--json"]);
  assert.ok(status === 0 || status === 1, stderr);
  assert.match(JSON.stringify(JSON.parse(stdout)), /win32/);
});

test("an unknown command is a usage error, in words", () => {
  const run = toolcrib(["doktor"]);
  assert.equal(run.status, 2);
  assert.match(run.stderr, /doctor/);
});

test("colours are as NO_COLOR and FORCE_COLOR say", () => {
  const hasColor = (env) => succeed(["tools", "list"], { env }).stdout.includes("\u001b[");
  assert.equal(hasColor({ FORCE_COLOR: "1" }), true);
  assert.equal(hasColor({ NO_COLOR: "1" }), false);
});

const shim = fileURLToPath(new URL("../../node_modules/.bin/toolcrib.cmd", import.meta.url));
test("npm's script for cmd.exe starts the command, with words that hold spaces", () => {
  const env = {
    ...inherited,
    LOCALAPPDATA: local,
    APPDATA: roaming,
    PATH: [dirname(shim), dirname(process.execPath), process.env.PATH].join(delimiter),
  };
  const run = (line) =>
    spawnSync("cmd.exe", ["/d", "/s", "/c", `"${line}"`], {
      cwd: root,
      env,
      encoding: "utf8",
      windowsVerbatimArguments: true,
      windowsHide: true,
      timeout: 60_000,
    });
  assert.equal(run("toolcrib.cmd --version").stdout.trim(), version);
  assert.match(run('toolcrib run -m offline "read a.txt"').stdout, /one/);
});

await runTests();
