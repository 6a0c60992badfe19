import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isToolError, ToolRegistry } from "@toolcrib/core";
import { testTool } from "@toolcrib/core/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createBashTools } from "./bash.ts";
import type { RunBashOptions } from "./bashOptions.ts";
import type { ShellRequest } from "./process/runShell.ts";
import { createRunBashTool } from "./runBash.ts";

interface Answer {
  stdout: string;
  stderr: string;
  exit_code: number;
}

let folder: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "toolcrib-bash-")));
  await mkdir(join(folder, "sub"));
  await writeFile(join(folder, "file"), "");
  await symlink("sub", join(folder, "link"));
});

afterAll(() => rm(folder, { recursive: true }));

/** Whether a process runs with these words; looked up where there is a /proc. */
function isRunning(words: string): boolean {
  if (process.platform !== "linux") return false;
  return readdirSync("/proc").some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith(words);
    } catch {
      return false;
    }
  });
}

async function run(command: string, args: Record<string, unknown> = {}, options: RunBashOptions = {}): Promise<Answer> {
  return JSON.parse(await createRunBashTool(options).execute({ command, ...args })) as Answer;
}

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
  test("is one destructive, open-world tool whose schema admits no other argument", () => {
    const [tool, ...rest] = createBashTools();
    expect(rest).toEqual([]);
    expect(tool).toMatchObject({ name: "run_bash", destructive: true, openWorld: true });
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

  test("asks the registry for more time than the command has, so that the command's own limit answers", () => {
    const limit = createRunBashTool({ timeoutMs: 500 }).timeoutMs as (args: Record<string, unknown>) => number;
    expect(limit({})).toBeGreaterThan(1500);
    expect(limit({ timeout: 60_000 })).toBeGreaterThan(61_000);
    expect(limit({ timeout: "soon" })).toBeGreaterThan(1500);
    expect(limit({ timeout: 2 ** 31 - 1 })).toBe(2 ** 31 - 1);
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])("refuses %s as its default limit", (timeoutMs) => {
    expect(() => createRunBashTool({ timeoutMs })).toThrow(RangeError);
  });
});

testTool(test, { create: () => createRunBashTool({ cwd: folder }), validArgs: () => ({ command: "sleep 0.1; pwd" }) });

describe("in a registry", () => {
  function registryWith(options: RunBashOptions): ToolRegistry {
    const registry = new ToolRegistry();
    registry.register(createRunBashTool(options));
    return registry;
  }

  test("the command's own limit answers, not the registry's", async () => {
    const answer = await registryWith({}).execute("run_bash", { command: "echo kept; sleep 600", timeout: 2000 });
    expect(JSON.parse(answer)).toEqual({ stdout: "kept\n", stderr: "[timed out after 2000 ms]", exit_code: -1 });
  });

  test("the caller's limit, and an abort, end the command at once", async () => {
    const registry = registryWith({ cwd: folder });
    const command = "sleep 600.25; touch too-late";
    expect(await registry.execute("run_bash", { command }, { timeoutMs: 100 })).toMatch(/Timed out after 100 ms/);
    const signal = AbortSignal.timeout(100);
    expect(await registry.execute("run_bash", { command }, { signal })).toMatch(/^Error executing run_bash: /);
    await expect.poll(() => isRunning("sleep\x00600.25")).toBe(false);
    expect(existsSync(join(folder, "too-late"))).toBe(false);
  });

  test("arguments that are slightly wrong are repaired, unknown ones are refused", async () => {
    const registry = registryWith({});
    const args = { command: "echo $N", timeout: "5000", env: { N: "7" }, cwd: null };
    expect(JSON.parse(await registry.execute("run_bash", args))).toMatchObject({ stdout: "7\n" });
    expect(await registry.execute("run_bash", { command: "true", timout: 5 })).toMatch(
      /^Error executing run_bash: Invalid arguments: timout.*did you mean timeout\?/,
    );
  });
});

describe("cwd", () => {
  test("is the process's directory, the first root, or the option; a relative argument starts there", async () => {
    expect((await run("pwd -P")).stdout).toBe(`${await realpath(process.cwd())}\n`);
    expect((await run("pwd -P", {}, { root: [folder, tmpdir()] })).stdout).toBe(`${folder}\n`);
    expect((await run("pwd -P", {}, { cwd: join(folder, "sub"), root: folder })).stdout).toBe(`${folder}/sub\n`);
    expect((await run("pwd -P", { cwd: "link/../sub" }, { root: folder })).stdout).toBe(`${folder}/sub\n`);
  });

  test("is not confined by root", async () => {
    expect((await run("pwd -P", { cwd: "/" }, { root: folder })).stdout).toBe("/\n");
  });

  test.each([
    ["", "cwd: must not be empty"],
    ["a\0b", "cwd: must not contain a NUL character"],
    ["missing", "cwd: no such directory: missing"],
    ["~", "cwd: `~` is not expanded; give the path in full"],
    ["file", "cwd: is not a directory: file"],
    [7, "cwd: expected string"],
  ])("refuses %j", async (cwd, reason) => {
    expect(await refusal({ command: "true", cwd }, { root: folder })).toContain(`Invalid arguments: ${reason}`);
  });

  test("tells what is there in place of one that is missing, but for what is denied", async () => {
    mkdirSync(join(folder, "packages"), { recursive: true });
    const call = { command: "true", cwd: "package" };
    expect(await refusal(call, { root: folder })).toContain("no such directory: package; there is packages");
    expect(await refusal(call, { root: folder, deny: ["packages"] })).toContain("package; pass an existing one");
  });

  test.each(["", " \n"])("an empty command is an invalid argument: %j", async (command) => {
    expect(await refusal({ command }, { root: folder })).toContain("Invalid arguments: command: is empty");
  });

  test("a refusal does not show where the working directory is", async () => {
    expect(await refusal({ command: "true", cwd: "missing" }, { root: folder })).not.toContain(folder);
  });
});

describe("env", () => {
  test("is merged over the process's variables, beside AI_AGENT", async () => {
    process.env.TOOLCRIB_TEST = "outer";
    try {
      const command = 'echo "$TOOLCRIB_TEST $GIVEN $AI_AGENT"';
      expect((await run(command)).stdout).toBe("outer  toolcrib\n");
      expect((await run(command, { env: { TOOLCRIB_TEST: "inner", GIVEN: "yes" } })).stdout).toBe(
        "inner yes toolcrib\n",
      );
    } finally {
      delete process.env.TOOLCRIB_TEST;
    }
  });

  test("keeps the variable that marks an outer call, so that the outer call can find the process", async () => {
    process.env.TOOLCRIB_CALLS = "outer";
    try {
      expect((await run("echo $TOOLCRIB_CALLS", { env: { TOOLCRIB_CALLS: "x" } })).stdout).toMatch(
        /^outer [\w-]{36}\n$/,
      );
    } finally {
      delete process.env.TOOLCRIB_CALLS;
    }
  });

  test("treats __proto__ and the like as data", async () => {
    const env = JSON.parse('{ "__proto__": "a", "constructor": "b" }') as Record<string, unknown>;
    expect((await run('env | grep -c "^__proto__=a\\|^constructor=b"', { env })).stdout).toBe("2\n");
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
    process.env.TOOLCRIB_TEST_TOKEN = "hush";
    process.env.TOOLCRIB_TEST_URL = "https://me:hush@example.com";
    const command = "env | grep ^TOOLCRIB_TEST | sort";
    try {
      expect((await run(command)).stdout).toMatch(/TOKEN=hush\n.*URL=/);
      expect((await run(command, {}, { scrubEnv: true })).stdout).toBe("");
      expect((await run(command, { env: { TOOLCRIB_TEST_TOKEN: "mine" } }, { scrubEnv: true })).stdout).toBe(
        "TOOLCRIB_TEST_TOKEN=mine\n",
      );
      expect((await run(command, {}, { scrubEnv: { keep: ["TOOLCRIB_TEST_TOKEN"] } })).stdout).toBe(
        "TOOLCRIB_TEST_TOKEN=hush\n",
      );
    } finally {
      delete process.env.TOOLCRIB_TEST_TOKEN;
      delete process.env.TOOLCRIB_TEST_URL;
    }
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

  test("kills the command, keeps what it printed and says so at the end of stderr", async () => {
    const command = "echo early; echo warn >&2; sleep 600; echo late";
    expect(await run(command, { timeout: 2000 })).toEqual({
      stdout: "early\n",
      stderr: "warn\n[timed out after 2000 ms]",
      exit_code: -1,
    });
  });

  test("has the last line after the notice of a cut", async () => {
    const { stderr } = await run("yes >&2", { timeout: 2000 });
    expect(stderr).toMatch(/\n\n\[truncated: shown \d+ of \d+ bytes\]\n\[timed out after 2000 ms\]$/);
  });

  test("defaults to the option", async () => {
    expect((await run("sleep 600", {}, { timeoutMs: 100 })).stderr).toBe("[timed out after 100 ms]");
  });
});

describe("a command", () => {
  test("that is missing, or holds a NUL, is refused", async () => {
    expect(await refusal({})).toBe("Invalid arguments: command: is required, expected string");
    expect(await refusal({ command: "echo \0" })).toContain("command: must not contain a NUL character");
  });

  test("too long for the system is an invalid argument that says what to do", async () => {
    expect(await refusal({ command: `: ${"x".repeat(4_000_000)}` })).toContain("put the data into a file");
  });

  test("whose call was aborted before is never started", async () => {
    const requests: ShellRequest[] = [];
    const runner = (request: ShellRequest): Promise<never> => Promise.reject(requests.push(request));
    const tool = createRunBashTool({ runner });
    await expect(tool.execute({ command: "true" }, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "aborted",
    });
    expect(requests).toEqual([]);
  });

  test("marks its call as committed right before it starts, and not when it is refused", async () => {
    let commits = 0;
    const beginCommit = (): void => {
      commits += 1;
    };
    const call = { beginCommit };
    const tool = createRunBashTool();
    await expect(tool.execute({ command: "true", timeout: 0 }, call)).rejects.toThrow();
    expect(commits).toBe(0);
    await tool.execute({ command: "true" }, call);
    expect(commits).toBe(1);
  });
});
