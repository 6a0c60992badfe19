import { execFileSync } from "node:child_process";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ProgramEnd, sharedCommand, sharedFolder, startProgram } from "@toolcrib/testing";
import { beforeAll, describe, expect, test } from "vitest";

const bin = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
const folder = sharedFolder("misuse");
const command = sharedCommand(bin);

beforeAll(() => {
  writeFileSync(join(folder, "a.txt"), "hello\n");
  writeFileSync(join(folder, "bad.json"), '{"path": }');
  writeFileSync(join(folder, "session.json"), "[]");
  execFileSync("mkfifo", [join(folder, "pipe")]);
});

function toolcrib(args: readonly string[], env: Record<string, string> = {}): Promise<ProgramEnd> {
  return startProgram(bin, args, { cwd: folder, env: { XDG_STATE_HOME: join(folder, "state"), ...env } }).ended;
}

/** What a user may get wrong: the arguments, the exit code, and what the one message must say. */
const misuses: readonly [args: string, code: number, says: RegExp][] = [
  ["rn", 2, /unknown command 'rn' \(Did you mean run\?\); see toolcrib --help/],
  ["help rnu", 2, /help: toolcrib has no command rnu; did you mean run\?/],
  ["help mcp ad", 2, /help: mcp has no command ad; did you mean add\?/],
  ["mcp help ad", 2, /help: mcp has no command ad; did you mean add\?/],
  ["tools help zzzzzz", 2, /help: tools has no command zzzzzz\n$/],
  ["find_it", 2, /unknown command 'find_it'.*; see toolcrib --help, or ask with toolcrib run "…"\n$/],
  ["--jsonn", 2, /unknown option '--jsonn'; see toolcrib chat --help/],
  ["-c run hi", 2, /run is a command: its flags come after it; put a message in quotes/],
  ["run --tols hi", 2, /unknown option '--tols' \(Did you mean --tools\?\); see toolcrib run --help/],
  ["run", 2, /nothing to do: pass a prompt/],
  ["run @nope.txt", 2, /@nope\.txt: there is no such file/],
  ["run @.", 2, /@\.: it is a directory/],
  ["run -m", 2, /argument missing/],
  ["run hi -m opnai", 2, /-m opnai: expected provider\/model .*did you mean openai\?/],
  ["run hi -m openai", 3, /environment variable OPENAI_API_KEY\.\n$/],
  ["run hi -m anthropic", 3, /ANTHROPIC_API_KEY/],
  ["run hi -m openrouter", 3, /OPENROUTER_API_KEY/],
  ["run hi -m openai-compatible/m", 2, /--base-url/],
  ["run hi -m lmstudio --base-url http://127.0.0.1:9/v1", 3, /offers no model; start it/],
  ["run hi --base-url http://127.0.0.1:9/v1", 2, /name the provider with -m/],
  ["run hi --max-steps 0", 2, /--max-steps 0: expected a whole number above 0/],
  ["run hi --max-steps many", 2, /--max-steps many: expected/],
  ["run hi --root nowhere", 2, /--root nowhere: there is no such directory/],
  ["run hi --root a.txt", 2, /--root a\.txt: this is a file/],
  ["run hi -m offline --enable raed_file", 2, /--enable raed_file: there is no such tool; did you mean read_file\?/],
  ["run hi -m offline --tools zzz", 2, /--tools zzz: there is no such tool; the tools are read_file, write_file/],
  ["run hi -m offline -c", 2, /nothing to continue/],
  ["run hi -m offline -r nope.json", 2, /--resume nope\.json: there is no such file/],
  ["run hi -m offline -r .", 2, /--resume \.: it is a directory; pass a journal/],
  ["run hi -m offline -r pipe", 2, /--resume pipe: it is a named pipe; pass a journal/],
  ["run hi -m offline -r /dev/zero", 2, /--resume \/dev\/zero: it is a character device/],
  ["run @pipe", 2, /@pipe: it is a named pipe; name a regular file/],
  ["run @/dev/zero", 2, /@\/dev\/zero: it is a character device/],
  ["tools call read_file @pipe", 2, /@pipe: it is a named pipe/],
  ["tools call read_file @.", 2, /@\.: it is a directory/],
  ["run hi -m offline -r session.json", 2, /Cannot read the session/],
  ["run hi -m offline -r a.txt", 2, /Cannot read the session/],
  ["tools lst", 2, /unknown command 'lst' \(Did you mean list\?\); see toolcrib tools --help/],
  ["tools call", 2, /needs the name of a tool/],
  ["tools call raed_file", 2, /there is no such tool; did you mean read_file\?/],
  ["tools call read_file", 2, /path: is required/],
  ["tools call read_file --pth a.txt", 2, /pth: .*path/],
  ["tools call read_file a.txt", 2, /unexpected "a\.txt": pass arguments of read_file as --name value \(--path/],
  ["tools call read_file --path", 2, /--path needs a value/],
  ["tools call read_file --path a.txt --path b.txt", 2, /--path is given twice/],
  ["tools call read_file @bad.json", 2, /@bad\.json is not valid JSON: unexpected "}" at character 10/],
  ["tools call read_file @none.json", 2, /@none\.json: there is no such file/],
  ['tools call read_file {"path"', 2, /is not valid JSON: it ends too early/],
  ["tools call read_file --path none.txt", 1, /No such file or directory: none\.txt/],
  ["tools call read_file --path /etc/hostname", 4, /Permission denied: \/etc\/hostname is outside/],
  [
    "tools call write_file --path .mcp.json --content x",
    4,
    /^Not run: write_file would write \.mcp\.json; asked because it is protected.* --allow 'write_file\(\.\/\.mcp\.json\)'/,
  ],
  ["run hi -m offline --ask", 2, /'--ask <rule>' argument missing: give a rule, such as .* use --mode ask\n$/],
  ["run hi -m offline --ask --json", 2, /--ask --json: --ask takes a rule; such as .* use --mode ask/],
  ["run -m offline --ask hi there", 2, /--ask hi: there is no such tool; the tools are/],
  ["run hi -m offline --allow raed_file", 2, /--allow raed_file: there is no such tool; did you mean read_file\?/],
  [
    "run hi -m offline --deny effect:reed(.env)",
    2,
    /--deny: "effect:reed\(\.env\)" is not a rule: .*did you mean read\?/,
  ],
  [
    "run hi -m offline --allow run_bash(a;b)",
    2,
    /--allow: "run_bash\(a;b\)" is malformed: it must be one simple command/,
  ],
  ["run hi -m offline --deny write_file([)", 2, /--deny: "write_file\(\[\)" is malformed/],
  [
    "run hi -m offline --mode yes",
    2,
    /--mode <mode>' argument 'yes' is invalid.*ask, plan, read-only, accept-edits, full/,
  ],
  ["run hi -m offline --yes", 2, /there is no --yes; write --mode full\n$/],
  ["run hi -m offline --jsonl", 2, /there is no --jsonl; write --output-format stream-json\n$/],
  ["run hi -m offline --json", 2, /there is no --json; write --output-format json\n$/],
  ["container run hi", 2, /container is a flag: toolcrib --container run/],
  ["mcp add n ", 2, /the command is empty/],
  ["permissions revoke nothing", 2, /permissions revoke nothing: there is no such answer; permissions list shows them/],
  [
    "permissions explain git push",
    2,
    /there is no such tool; the tools are .*\. For a command: toolcrib permissions explain run_bash "COMMAND"\n/,
  ],
  [
    "permissions explain raed_file",
    2,
    /permissions explain raed_file: there is no such tool; did you mean read_file\?/,
  ],
  ["tools call run_bash --command ls", 4, /Tool not available: run_bash; it is off unless you pass --enable run_bash/],
];

describe("a mistake gets one message on stderr: what was wrong and what to do, without a stack trace", () => {
  const check = (end: ProgramEnd, [args, code, says]: (typeof misuses)[number]): void => {
    expect(end.stderr).toMatch(says);
    expect(end.stderr).not.toMatch(/^\s+at |node:internal|Error: .*Error: /m);
    // Where JSON was asked for, the same as an object.
    if (args.endsWith(" --json")) expect(JSON.parse(end.stdout)).toMatchObject({ error: { code: "usage" } });
    else expect(end.stdout).toBe("");
    expect(end.code).toBe(code);
  };

  test.each(misuses)("toolcrib %s: exit %i", async (...misuse) => {
    const env = { XDG_STATE_HOME: join(folder, "state") };
    check(await command(misuse[0].split(" "), { cwd: folder, env }), misuse);
  });

  test.each(["rn", "run hi -m openai", "tools call read_file --path none.txt", "run hi -m offline --ask --json"])(
    "started as users start it, too: toolcrib %s",
    async (args) =>
      check(await toolcrib(args.split(" ")), misuses.find(([one]) => one === args) as (typeof misuses)[number]),
  );

  test("the key does not appear in the message of a failed request", async () => {
    const end = await toolcrib(["run", "hi", "-m", "openai"], {
      OPENAI_API_KEY: "sk-not-a-real-key-0123456789",
      OPENAI_BASE_URL: "http://127.0.0.1:9/v1",
    });
    expect(end.code).toBe(3);
    expect(end.stdout + end.stderr).not.toContain("sk-not-a-real-key");
  });
});

test("an OLLAMA_HOST that is not a URL is reported", async () => {
  for (const address of ["http://", "ftp://x"]) {
    const end = await toolcrib(["run", "hi"], { OLLAMA_HOST: address });
    expect(end).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^toolcrib: OLLAMA_HOST is not an address: http:/),
    });
  }
});

test.each([
  ["OPENAI", "openai/gpt-6-luna"],
  ["ANTHROPIC", "anthropic"],
  ["OPENAI", "openai-compatible/m"],
])("an address of another scheme in %s_BASE_URL is told by that name, for %s", async (service, model) => {
  const env = { [`${service}_API_KEY`]: "k", [`${service}_BASE_URL`]: "ftp://x/v1" };
  const end = await toolcrib(["run", "hi", "-m", model], env);
  expect({ code: end.code, stderr: end.stderr }).toEqual({
    code: 2,
    stderr: `toolcrib: ${service}_BASE_URL must begin with http:// or https://.\n`,
  });
});

test("a folder of the state that no path can be is told by its variable", async () => {
  const end = await toolcrib(["run", "list .", "-m", "offline"], { XDG_STATE_HOME: `/${"a/".repeat(2_100)}` });
  expect(end).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/longer than a path can be; set XDG_STATE_HOME/),
  });
});

test("an invalid --base-url is reported with the name of the flag, also as JSON", async () => {
  const args = ["run", "hi", "-m", "openai-compatible/m", "--base-url", "nowhere", "--output-format", "json"];
  const end = await toolcrib(args, { XDG_STATE_HOME: join(folder, "other-state") });
  expect(end.stderr).toMatch(/nowhere\. Check --base-url\.\n$/);
  expect(JSON.parse(end.stdout)).toMatchObject({
    ok: false,
    error: { message: expect.stringMatching(/ --base-url\.$/) },
  });
  expect(end.code).toBe(2);
});

test("a file or standard input over the size limit is refused in one line", async () => {
  const own = join(folder, "large");
  mkdirSync(own);
  for (const [name, megabytes] of [
    [".mcp.json", 10],
    ["prompt.txt", 10],
    ["session.json", 100],
  ] as const) {
    writeFileSync(join(own, name), "");
    truncateSync(join(own, name), megabytes * 2 ** 20 + 1);
  }
  const env = { XDG_STATE_HOME: join(folder, "state") };
  for (const [args, says, input] of [
    ["mcp list", /^toolcrib: \.mcp\.json: it holds more than 1 MB, the most that is read; use a smaller one\n$/],
    ["mcp add a b", /^toolcrib: \.mcp\.json: it holds more than 1 MB/],
    ["run -m offline @prompt.txt", /^toolcrib: @prompt\.txt: it holds more than 10 MB/],
    ["tools call read_file @prompt.txt", /^toolcrib: @prompt\.txt: it holds more than 10 MB/],
    ["run -m offline hi -r session.json", /^toolcrib: --resume session\.json: it holds more than 100 MB/],
    ["run -m offline", /^toolcrib: standard input: it holds more than 10 MB/, " ".repeat(10 * 2 ** 20 + 1)],
  ] as const) {
    const running = startProgram(bin, args.split(" "), { cwd: own, env, ...(input !== undefined && { input }) });
    // The program ends before it has read everything.
    running.child.stdin?.on("error", () => {});
    expect(await running.ended).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(says) });
  }
});
