import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ProgramEnd, sharedFolder, startProgram } from "@toolcrib/testing";
import { beforeAll, describe, expect, test } from "vitest";
import { bin, command } from "../fixtures/command.ts";

const folder = sharedFolder("misuse");

beforeAll(() => {
  writeFileSync(join(folder, "a.txt"), "hello\n");
  writeFileSync(join(folder, "bad.json"), '{"path": }');
  writeFileSync(join(folder, "session.json"), "[]");
  execFileSync("mkfifo", [join(folder, "pipe")]);
});

function toolcrib(args: readonly string[], env: Record<string, string> = {}): Promise<ProgramEnd> {
  return command(args, { cwd: folder, env: { XDG_STATE_HOME: join(folder, "state"), ...env } });
}

/** The mistakes of users: the exit code, the arguments, and what the one message must say. */
const misuses = readFileSync(new URL("../fixtures/misuses.tsv", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line): readonly [args: string, code: number, says: RegExp] => {
    const [code, args = "", says = ""] = line.split("\t");
    return [args, Number(code), new RegExp(says)];
  });

describe("a mistake gets one message on stderr: what was wrong and what to do, without a stack trace", () => {
  const check = (end: ProgramEnd, [args, code, says]: (typeof misuses)[number]): void => {
    expect(end.stderr).toMatch(says);
    expect(end.stderr).not.toMatch(/^\s+at |node:internal|Error: .*Error: /m);
    // Where JSON was asked for, the same as an object.
    if (args.endsWith(" --json")) expect(JSON.parse(end.stdout)).toMatchObject({ error: { code: "usage" } });
    else expect(end.stdout).toBe("");
    expect(end.code).toBe(code);
    if (args.startsWith("mcp ")) expect(end.stderr.trim()).not.toContain("\n");
  };

  test.each(misuses)("toolcrib %s: exit %i", async (...misuse) => {
    const env = { XDG_STATE_HOME: join(folder, "state") };
    check(await command(misuse[0].split(" "), { cwd: folder, env }), misuse);
  });

  test.each(["rn", "tools call read_file --path none.txt"])(
    "started as users start it, too: toolcrib %s",
    async (args) =>
      check(
        await startProgram(bin, args.split(" "), { cwd: folder }).ended,
        misuses.find(([one]) => one === args) as (typeof misuses)[number],
      ),
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
    const end = await command(args.split(" "), { cwd: own, env, ...(input !== undefined && { input }) });
    expect(end).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(says) });
  }
});
