import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ProgramEnd, sharedFolder, startProgram } from "@toolcrib/testing";
import { beforeAll, describe, expect, test } from "vitest";
import { bin, command } from "../fixtures/command.ts";

const folder = sharedFolder("cli");

beforeAll(() => {
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src", "a.ts"), "// TODO: one\nconst list = [];\n");
  writeFileSync(join(folder, "src", "b.ts"), "// TODO: two\r\nno newline at the end");
  writeFileSync(join(folder, "args.json"), '{ "path": "src/b.ts" }');
  writeFileSync(join(folder, "request.txt"), "list src\n");
});

function toolcrib(
  args: readonly string[],
  options: { env?: Record<string, string>; input?: string; cwd?: string } = {},
): Promise<ProgramEnd> {
  const env = { XDG_STATE_HOME: join(folder, "state"), ...options.env };
  return command(args, { cwd: folder, ...options, env });
}

/** Reads the user's messages from a journal. */
function usersIn(journal: string): string[] {
  const lines = readFileSync(journal, "utf8").trimEnd().split("\n");
  type Line = { message?: Message; messages?: Message[] };
  type Message = { role: string; content: { text: string }[] };
  const messages = lines.flatMap((line) => {
    const { message, messages = [] } = JSON.parse(line) as Line;
    return message ? [message] : messages;
  });
  return messages.filter(({ role }) => role === "user").map(({ content }) => content[0]?.text ?? "");
}

describe("toolcrib", () => {
  test("--version prints the version of the package", async () => {
    const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
      version: string;
    };
    const { ended } = startProgram(bin, ["--version"], { cwd: folder });
    expect(await ended).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  test.each([[[]], [["--help"]], [["tools"]], [["tools", "call", "read_file", "--help"]]])(
    "%j prints help to stdout",
    async (args) => {
      const end = await toolcrib(args);
      expect(end).toMatchObject({ code: 0, stderr: "" });
      expect(end.stdout).toMatch(/^Usage: toolcrib/);
    },
  );

  test.each([
    ["--help"],
    ["run --help"],
    ["chat --help"],
    ["mcp"],
    ["mcp serve --help"],
    ["tools call --help"],
    ["acp --help"],
  ])("%s comes in groups of at most eight lines", async (line) => {
    const groups = (await toolcrib(line.split(" "))).stdout
      .split("\n\n")
      .filter((group) => /^\S.*:\n {2}\S/.test(group));
    expect(groups.length).toBeGreaterThan(0);
    for (const group of groups.filter((one) => !/^Examples|^Which model/.test(one)))
      expect(group.trimEnd().split("\n").length - 1, group).toBeLessThanOrEqual(8);
  });

  test("tools call NAME --help tells which values fit and what a list holds", async () => {
    expect((await toolcrib(["tools", "call", "read_file", "--help"])).stdout).toMatch(/--encoding +one of "utf-?8", "/);
    expect((await toolcrib(["tools", "call", "edit_file", "--help"])).stdout).toMatch(
      /--edits +array of { old_text: string, new_text: string.* }, required, repeat --edits for more/,
    );
  });

  test("tools list shows the ten, edit_file and ask_user in order; remove, run_bash, save_session_context and ask_user are off", async () => {
    const { stdout, code } = await toolcrib(["tools", "list"]);
    expect(code).toBe(0);
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.split(/\s+/).slice(0, 2).join(" ")),
    ).toEqual([
      ...["on read_file", "on write_file", "off save_session_context", "on list_dir", "on mkdir", "off remove"],
      ...["on move", "on search_text", "on search_files", "off run_bash", "on edit_file", "off ask_user"],
    ]);
  });

  test("tools cost estimates what each schema takes, and the sum of those that are on", async () => {
    const { stdout, stderr, code } = await toolcrib(["tools", "cost", "--json"]);
    const { total, tools } = JSON.parse(stdout) as { total: number; tools: { enabled: boolean; tokens: number }[] };
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(total).toBe(tools.reduce((sum, { enabled, tokens }) => sum + (enabled ? tokens : 0), 0));
    expect(total).toBeGreaterThan(500);
    const shown = await toolcrib(["tools", "cost", "--tools", "read_file"]);
    expect(shown.stdout).toMatch(/^ +(\d+) {2}on {3}read_file\n[\s\S]*^ +\1 {2}of each request/m);
    expect(shown.stderr).toMatch(/^Tokens, estimated: .*Each model counts differently\.\n$/);
  });

  test("tools list --json gives the schemas, toggled by the flags", async () => {
    const flags = ["--tools", "read_file,list_dir", "--enable", "run_bash", "--disable", "list_dir", "--json"];
    const { stdout } = await toolcrib(["tools", "list", ...flags]);
    const listing = JSON.parse(stdout) as { name: string; enabled: boolean; parameters: { type: string } }[];
    expect(listing.filter((tool) => tool.enabled).map((tool) => tool.name)).toEqual(["read_file", "run_bash"]);
    expect(listing.every((tool) => tool.parameters.type === "object")).toBe(true);
  });

  test.each([
    [["--path", "src/b.ts"]],
    [["--path=src/b.ts"]],
    [['{"path":"src/b.ts"}']],
    [["@args.json"]],
    [["--root", ".", "--path", "src/b.ts"]],
  ])("tools call read_file %j prints exactly the file", async (args) => {
    const stdout = readFileSync(join(folder, "src", "b.ts"), "utf8");
    expect(await toolcrib(["tools", "call", "read_file", ...args])).toEqual({ code: 0, stdout, stderr: "" });
  });

  test.each([
    [["--paths", "src/a.ts", "src/b.ts"]],
    [["--paths", "src/a.ts", "--paths=src/b.ts", "--case-sensitive", "false"]],
    [["--paths", '["src/a.ts","src/b.ts"]', "--max-results", "10"]],
    [["--paths", "src", "--regex"]],
  ])("tools call search_text --query TODO %j finds in both files", async (args) => {
    const { stdout, code } = await toolcrib(["tools", "call", "search_text", "--query", "TODO", ...args]);
    expect(stdout).toMatch(/^src\/a\.ts:1:\/\/ TODO: one\nsrc\/b\.ts:1:\/\/ TODO: two/);
    expect(code).toBe(0);
  });

  test("tools call run_bash hands no secret of the environment to the command", async () => {
    const env = { OPENAI_API_KEY: "sk-0123456789abcdef0123", PLAIN: "kept" };
    const command = 'echo "[$OPENAI_API_KEY] $PLAIN $PWD"';
    const { stdout } = await toolcrib(["tools", "call", "run_bash", "--enable", "run_bash", "--command", command], {
      env,
    });
    expect(JSON.parse(stdout)).toEqual({ stdout: `[] kept ${folder}\n`, stderr: "", exit_code: 0 });
  });

  test("run prints the answer on stdout and the tool calls on stderr, after one line on the model", async () => {
    const { stdout, stderr, code } = await toolcrib(["run", "find TODO in src", "-m", "offline"]);
    expect(stdout).toContain("src/a.ts:1:// TODO: one");
    expect(stderr).toMatch(/^→ search_text query=TODO paths=\["src"\]\n✓ search_text: /);
    expect(code).toBe(0);
  });

  test.each([
    [["run", "@request.txt"], undefined],
    [["run"], "list src\n"],
    [["-p", "list src"], undefined],
    [["-p", "--output-format=json", "list", "src"], undefined],
    [["run", "list", "src"], "some notes\n"],
  ])("%j with %j on standard input lists src", async (args, input) => {
    const { stdout, code } = await toolcrib([...args, "-m", "offline"], input === undefined ? {} : { input });
    expect(stdout).toContain("a.ts");
    expect(code).toBe(0);
  });

  test("run prints one object, or the events", async () => {
    const one = await toolcrib(["run", "list src", "-m", "offline", "--output-format", "json"]);
    expect(JSON.parse(one.stdout)).toMatchObject({
      ...{ ok: true, reason: "stop", text: expect.stringContaining("a.ts"), model: "offline/rules" },
      toolCalls: [{ name: "list_dir", args: { path: "src" }, isError: false }],
    });
    const many = await toolcrib(["run", "list src", "-m", "offline", "--output-format", "stream-json"]);
    const types = many.stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types.filter((type) => type !== "text-delta")).toEqual([
      "step-start",
      "tool-call",
      "tool-result",
      "step-start",
      "end",
    ]);
  });

  test.each([
    ["json", "offline", { code: 3, error: "not_understood" }],
    ["stream-json", "openai", { code: 3, error: "missing_key" }],
    ["json", "nobody", { code: 2, error: "usage" }],
  ])("a failure is an object with %s too, with -m %s", async (format, model, failure) => {
    const { stdout, code } = await toolcrib(["run", "dance", "-m", model, "--output-format", format]);
    const { error } = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as { error: { code: string } };
    expect({ code, error: error.code }).toEqual(failure);
  });

  test("an older Node gets one sentence, before anything is loaded", async () => {
    const versions = "{ value: { ...process.versions, node: '22.17.1' } }";
    const older = `data:text/javascript,Object.defineProperty(process, 'versions', ${versions})`;
    expect(await toolcrib(["--version"], { env: { NODE_OPTIONS: `--import "${older}"` } })).toEqual({
      code: 1,
      stdout: "",
      stderr: "toolcrib: this needs Node.js 22.18 or later, and this is 22.17.1; see https://nodejs.org\n",
    });
  });

  test("a request that the stand-in does not understand exits 3 and names two ways on, a line each", async () => {
    const { stderr, code } = await toolcrib(["run", "write me a poem", "-m", "offline"]);
    expect(stderr).toMatch(/not a language model.*To connect a model:\n {2}.*OPENAI_API_KEY.*\n {2}.*Ollama.*\n$/);
    expect(code).toBe(3);
  });

  test("the step limit exits 5 and says how to go on", async () => {
    const { stderr, code } = await toolcrib(["run", "list src", "-m", "offline", "--max-steps", "1"]);
    expect(stderr).toMatch(/step limit.*run -c.*--max-steps/);
    expect(code).toBe(5);
  });

  test("without a terminal a change is not made, which is told with the rule that allows it; exit 4", async () => {
    const run = (...flags: string[]): Promise<ProgramEnd> =>
      toolcrib(["run", "write hi to src/new.txt", "-m", "offline", ...flags]);
    const refused = await run();
    expect(refused.stderr).toMatch(
      /\nNot run: write_file would write src\/new\.txt; asked because .* --allow 'write_file\(\.\/src\/new\.txt\)' allows exactly this\.\n.*toolcrib chat -c/,
    );
    expect(refused.code).toBe(4);
    expect(readdirSync(join(folder, "src"))).not.toContain("new.txt");
    expect((await toolcrib(["run", "list src", "-m", "offline"])).code).toBe(0);
    for (const flags of [
      ["--allow", "write_file(./src/new.txt)"],
      ["--mode", "full"],
      ["--mode", "accept-edits"],
    ]) {
      expect((await run(...flags)).code).toBe(0);
      rmSync(join(folder, "src", "new.txt"));
    }
    for (const flags of [
      ["--deny", "write_file"],
      ["--mode", "read-only"],
    ]) {
      const denied = await run(...flags);
      expect(denied).toMatchObject({ code: 4, stderr: expect.stringMatching(/✗ .*Permission denied/) });
    }
    expect(readdirSync(join(folder, "src"))).not.toContain("new.txt");
  });

  test.each([
    ["list src", 0, { ok: true, reason: "stop" }],
    ["read nofile", 1, { ok: false, reason: "stop" }],
    [
      "write hi to src/new.txt",
      4,
      { ok: false, reason: "approval", pending: [{ name: "write_file", question: { data: { mode: "ask" } } }] },
    ],
  ])("run %j exits %i, and its ok says the same", async (request, code, result) => {
    const end = await toolcrib(["run", request, "-m", "offline", "--output-format", "json"]);
    expect(JSON.parse(end.stdout)).toMatchObject(result);
    expect(end.code).toBe(code);
  });

  test("a journal keeps each conversation; -c continues the directory's last, -r any journal or saved session", async () => {
    const options = { cwd: join(folder, "src"), env: { XDG_STATE_HOME: join(folder, "own-state") } };
    const journals = (): string[] => {
      const sessions = join(folder, "own-state", "toolcrib", "sessions");
      const [own = ""] = readdirSync(sessions);
      return readdirSync(join(sessions, own)).map((name) => join(sessions, own, name));
    };
    await toolcrib(["run", "list .", "-m", "offline"], options);
    const [first = ""] = journals();
    expect(usersIn(first)).toEqual(["list ."]);
    expect((await toolcrib(["run", "read a.ts", "-c", "-m", "offline"], options)).code).toBe(0);
    expect(journals()).toEqual([first]);
    await toolcrib(["run", "read b.ts", "-r", first, "-m", "offline"], options);
    expect(journals()).toEqual([first]);
    expect(usersIn(first)).toEqual(["list .", "read a.ts", "read b.ts"]);
    const saved = join(folder, "saved.json");
    const messages = [{ role: "user", content: "hello" }];
    writeFileSync(saved, JSON.stringify({ format: "toolcrib-session", version: 1, systemPrompt: "", messages }));
    await toolcrib(["run", "list .", "-r", saved, "-m", "offline"], options);
    const [second = ""] = journals().filter((file) => file !== first);
    expect(usersIn(second)).toEqual(["hello", "list ."]);
  });

  test.each([
    [{ FORCE_COLOR: "1" }, true],
    [{ NO_COLOR: "1" }, false],
    [{}, false],
  ])("with %j in the environment, colours in a pipe: %s", async (env, coloured) => {
    const { stderr } = await toolcrib(["run", "list src", "-m", "offline"], { env });
    expect(stderr.includes("\u001b[")).toBe(coloured);
  });

  test("the demo reports on the directory it is run in, and tells how to go on", async () => {
    const { stdout, stderr, code } = await toolcrib(["demo"], { cwd: join(folder, "src") });
    expect(stderr).toMatch(/→ list_dir .*→ search_text .*✓ write_file/s);
    expect(stdout).toMatch(/2 marks in 2 files.*a\.ts:1:\/\/ TODO: one.*OPENAI_API_KEY.*What else to try/s);
    expect(stdout).toMatch(/run "find TODO in \."\n.*--paths \.\n/s);
    const report = /report is in (\S+)/.exec(stdout)?.[1] ?? "";
    expect(readFileSync(report, "utf8")).toContain("a.ts:1:// TODO: one");
    rmSync(join(report, ".."), { recursive: true });
    expect(code).toBe(0);
  });
});
