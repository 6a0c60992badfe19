import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isToolError, ToolRegistry } from "@toolcrib/core";
import { testTool } from "@toolcrib/core/testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import { passLimit, run, sharedFolder, uniqueSleep, withArgument } from "../fixtures/commands.ts";
import { createBashTools } from "./bash.ts";
import type { RunBashOptions } from "./bashOptions.ts";
import type { ShellRequest } from "./process/shellRequest.ts";
import { createRunBashTool } from "./runBash.ts";

const folder = sharedFolder("bash");
mkdirSync(join(folder, "sub"));
mkdirSync(join(folder, "packages"));
writeFileSync(join(folder, "file"), "");
symlinkSync("sub", join(folder, "link"));
afterEach(() => {
  vi.unstubAllEnvs();
});

async function refusal(args: Record<string, unknown>, options: RunBashOptions = {}): Promise<string> {
  const error: unknown = await createRunBashTool(options)
    .execute(args)
    .then(
      (answer) => expect.fail(`ran: ${answer}`),
      (thrown: unknown) => thrown,
    );
  if (!isToolError(error)) throw error;
  expect(error.code).toBe("invalid_arguments");
  return error.message;
}

describe("the tool", () => {
  test("is one destructive, open-world tool of this pack whose schema admits no other argument", () => {
    const [tool, ...rest] = createBashTools();
    expect(rest).toEqual([]);
    const origin = "@toolcrib/tools-bash";
    expect(tool).toMatchObject({ name: "run_bash", origin, destructive: true, openWorld: true });
    const { function: schema } = tool?.getSchema() ?? expect.fail();
    expect(schema.parameters).toMatchObject({ type: "object", required: ["command"], additionalProperties: false });
    expect(schema.description).toMatch(/change or destroy anything the process can reach/);
  });

  test("answers stdout, stderr and exit_code, in this order, and gives them as data", async () => {
    const registry = new ToolRegistry([createRunBashTool()]);
    expect(await registry.invoke("run_bash", { command: "echo out; echo err >&2; exit 3" })).toEqual({
      ok: true,
      output: '{"stdout":"out\\n","stderr":"err\\n","exit_code":3}',
      data: { stdout: "out\n", stderr: "err\n", exit_code: 3 },
    });
  });

  test.each(["-x", "+x", "--version", "-c true"])(
    "a command that begins like an option is one: %s",
    async (command) => {
      expect(await run(command)).toMatchObject({ exit_code: 127, stderr: expect.stringContaining("not found") });
    },
  );

  test("asks the registry for more time than the command has, so that the command's own limit answers", () => {
    const limit = createRunBashTool({ timeoutMs: 500 }).timeoutMs as (args: Record<string, unknown>) => number;
    expect(limit({})).toBeGreaterThan(1500);
    expect(limit({ timeout: 60_000 })).toBeGreaterThan(61_000);
    expect(limit({ timeout: "soon" })).toBeGreaterThan(1500);
    expect(limit({ timeout: 2 ** 31 - 1 })).toBe(2 ** 31 - 1);
  });
});

testTool(test, { create: () => createRunBashTool({ cwd: folder }), validArgs: () => ({ command: "sleep 0.1; pwd" }) });

describe("in a registry", () => {
  const registry = new ToolRegistry([createRunBashTool({ cwd: folder })]);

  test.runIf(process.platform === "linux")("the caller's limit, and an abort, end the command at once", async () => {
    const sleep = uniqueSleep();
    const command = `sleep ${sleep}; touch too-late`;
    expect(await registry.execute("run_bash", { command }, { timeoutMs: 100 })).toMatch(/Timed out after 100 ms/);
    const signal = AbortSignal.timeout(100);
    expect(await registry.execute("run_bash", { command }, { signal })).toMatch(/^Error executing run_bash: /);
    await expect.poll(() => withArgument(sleep)).toEqual([]);
    expect(existsSync(join(folder, "too-late"))).toBe(false);
  });

  test("arguments that are slightly wrong are repaired, unknown ones are refused", async () => {
    const args = { command: "echo $N", timeout: "5000", env: { N: "7" }, cwd: null };
    expect(JSON.parse(await registry.execute("run_bash", args))).toMatchObject({ stdout: "7\n" });
    expect(await registry.execute("run_bash", { command: "true", timout: 5 })).toMatch(
      /^Error executing run_bash: Invalid arguments: timout.*did you mean timeout\?/,
    );
  });
});

describe("cwd", () => {
  test("is the process's directory, the first root, or the option; a relative argument starts there, and root does not confine it", async () => {
    const pwd = async (options: RunBashOptions, cwd?: string): Promise<string> =>
      (await run("pwd -P", { cwd }, options)).stdout.trimEnd();
    expect(await pwd({})).toBe(await realpath(process.cwd()));
    expect(await pwd({ root: [folder, tmpdir()] })).toBe(folder);
    expect(await pwd({ cwd: join(folder, "sub"), root: folder })).toBe(`${folder}/sub`);
    expect(await pwd({ root: folder }, "link/../sub")).toBe(`${folder}/sub`);
    expect(await pwd({ root: folder }, "/")).toBe("/");
  });

  test.each([
    ["", "cwd: must not be empty"],
    ["a\0b", "cwd: must not contain a NUL character"],
    ["missing", "cwd: no such directory: missing"],
    ["~", "cwd: `~` is not expanded; give the path in full"],
    ["file", "cwd: is not a directory: file"],
    [7, "cwd: expected string"],
  ])("refuses %j, and does not show where the working directory is", async (cwd, reason) => {
    const words = await refusal({ command: "true", cwd }, { root: folder });
    expect(words).toContain(`Invalid arguments: ${reason}`);
    expect(words).not.toContain(folder);
  });

  test("tells what is there in place of one that is missing, but for what is denied", async () => {
    const call = { command: "true", cwd: "package" };
    expect(await refusal(call, { root: folder })).toContain("no such directory: package; there is packages");
    expect(await refusal(call, { root: folder, deny: ["packages"] })).toContain("package; pass an existing one");
  });
});

describe("env", () => {
  test("is merged over the process's variables, beside AI_AGENT and the mark of an outer call, and __proto__ is data", async () => {
    vi.stubEnv("TOOLCRIB_TEST", "outer");
    vi.stubEnv("TOOLCRIB_CALLS", "calls");
    const command =
      'echo "$TOOLCRIB_TEST $GIVEN $AI_AGENT $TOOLCRIB_CALLS"; env | grep -c "^__proto__=a\\|^constructor=b"';
    const own = '"TOOLCRIB_TEST":"inner","GIVEN":"yes","TOOLCRIB_CALLS":"x","__proto__":"a","constructor":"b"';
    expect((await run(command)).stdout).toMatch(/^outer {2}toolcrib calls [\w-]{36}\n0\n$/);
    expect((await run(command, { env: JSON.parse(`{${own}}`) })).stdout).toMatch(
      /^inner yes toolcrib calls [\w-]{36}\n2\n$/,
    );
  });

  test.each([
    [{ "A=B": "x" }, 'env: "A=B" cannot name a variable'],
    [{ "": "x" }, 'env: "" cannot name a variable'],
    [{ "A\0": "x" }, "cannot name a variable"],
    [{ A: 1 }, 'env: the value of "A" must be a string'],
    [{ A: "x\0y" }, 'env: the value of "A" must not contain a NUL character'],
    ["A=1", "env: expected an object with string values"],
    [["A=1"], "env: expected an object with string values"],
  ])("refuses %j", async (env, reason) => {
    expect(await refusal({ command: "true", env })).toContain(reason);
  });

  test("keeps secrets unless asked to remove them, and never removes those that the call gives", async () => {
    vi.stubEnv("TOOLCRIB_TEST_TOKEN", "hush");
    vi.stubEnv("TOOLCRIB_TEST_URL", "https://me:hush@example.com");
    const named = async (scrubEnv: NonNullable<RunBashOptions["scrubEnv"]>, env = {}): Promise<string> =>
      (await run("env | grep ^TOOLCRIB_TEST | sort", { env }, { scrubEnv })).stdout;
    expect(await named(false)).toMatch(/TOKEN=hush\n.*URL=/);
    expect(await named(true)).toBe("");
    expect(await named(true, { TOOLCRIB_TEST_TOKEN: "mine" })).toBe("TOOLCRIB_TEST_TOKEN=mine\n");
    expect(await named({ keep: ["TOOLCRIB_TEST_TOKEN"] })).toBe("TOOLCRIB_TEST_TOKEN=hush\n");
  });
});

describe("timeout", () => {
  test.each([0, -5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, "30"])("refuses %s", async (timeout) => {
    expect(await refusal({ command: "true", timeout })).toContain(
      "Invalid arguments: timeout: must be a positive number of milliseconds up to 2147483647",
    );
  });

  test("of 2^31 - 1 does not fire at once", async () => {
    expect(await run("sleep 0.05", { timeout: 2 ** 31 - 1 })).toEqual({ stdout: "", stderr: "", exit_code: 0 });
  });

  test("kills the command, keeps what it printed, and says so at the end of stderr, after the notice of a cut", async () => {
    const command = "echo early; yes | head -c 100000 >&2; touch printed; sleep 600; echo late";
    const tool = createRunBashTool({ cwd: folder });
    const { stdout, stderr, exit_code } = JSON.parse(
      await passLimit(
        () => tool.execute({ command, timeout: 2000 }),
        () => existsSync(join(folder, "printed")),
      ),
    );
    expect([stdout, exit_code]).toEqual(["early\n", -1]);
    expect(stderr).toMatch(/\n\n\[truncated: shown \d+ of 100000 bytes\]\n\[timed out after 2000 ms\]$/);
  });

  test("defaults to the option", async () => {
    expect((await run("sleep 600", {}, { timeoutMs: 100 })).stderr).toBe("[timed out after 100 ms]");
  });
});

describe("a command", () => {
  test.each([
    [{}, "command: is required, expected string"],
    [{ command: "" }, "command: is empty"],
    [{ command: " \n" }, "command: is empty"],
    [{ command: "echo \0" }, "command: must not contain a NUL character"],
    [{ command: `: ${"x".repeat(4_000_000)}` }, "put the data into a file"],
  ])("that is missing, empty, holds a NUL or is too long for the system is refused: %#", async (args, words) => {
    expect(await refusal(args)).toContain(words);
  });

  test("whose call was aborted before is never started", async () => {
    const requests: ShellRequest[] = [];
    const tool = createRunBashTool({ runner: (request) => Promise.reject(requests.push(request)) });
    const aborted = { signal: AbortSignal.abort() };
    await expect(tool.execute({ command: "true" }, aborted)).rejects.toMatchObject({ code: "aborted" });
    expect(requests).toEqual([]);
  });

  test("marks its call as committed right before it starts, and not when it is refused", async () => {
    const beginCommit = vi.fn();
    const tool = createRunBashTool();
    await expect(tool.execute({ command: "true", timeout: 0 }, { beginCommit })).rejects.toThrow();
    expect(beginCommit).not.toHaveBeenCalled();
    await tool.execute({ command: "true" }, { beginCommit });
    expect(beginCommit).toHaveBeenCalledOnce();
  });
});
