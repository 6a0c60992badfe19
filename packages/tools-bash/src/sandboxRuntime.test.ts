import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createBashTools } from "./bash.ts";
import { type RunBashOptions, sandboxProblem } from "./bashOptions.ts";
import { createBackgroundJobs } from "./jobs/backgroundJobs.ts";
import { createRunBashTool } from "./runBash.ts";
import { createSandboxRuntime, type SandboxRuntimeOptions } from "./sandboxRuntime.ts";

/* The sandbox that @anthropic-ai/sandbox-runtime makes, with the package itself. */

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "toolcrib-runtime-")));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

interface Answer {
  stdout: string;
  stderr: string;
  exit_code: number;
}

async function run(
  args: string | Record<string, unknown>,
  given: SandboxRuntimeOptions = {},
  options: RunBashOptions = {},
): Promise<Answer> {
  const sandbox = createSandboxRuntime({ writable: root, ...given });
  const tool = createRunBashTool({ cwd: root, root, sandbox, ...options });
  return JSON.parse(await tool.execute(typeof args === "string" ? { command: args } : args)) as Answer;
}

async function refusal(given: SandboxRuntimeOptions): Promise<string> {
  const registry = new ToolRegistry([
    createRunBashTool({ cwd: root, sandbox: createSandboxRuntime({ writable: root, ...given }) }),
  ]);
  return registry.execute("run_bash", { command: "touch made" });
}

function put(path: string, text = "kept"): void {
  mkdirSync(join(root, path, ".."), { recursive: true });
  writeFileSync(join(root, path), text);
}

const read = (path: string): string => readFileSync(join(root, path), "utf8");

const problem = await sandboxProblem({ sandbox: createSandboxRuntime({ writable: import.meta.dirname }) });

describe.skipIf(problem !== undefined)(`in the sandbox${problem === undefined ? "" : ` (skipped: ${problem})`}`, () => {
  test("commands write in the writable directories and their own temporary one, and nowhere else", async () => {
    const outside = join(root, "..", `${root.split("/").at(-1)}-outside`);
    const { stdout, stderr, exit_code } = await run(
      `echo a >in; mktemp >name; cat <<E >there\nb\nE\ncat in there; touch ${outside} ~/.toolcrib-made /etc/made`,
    );
    expect(stdout).toBe("a\nb\n");
    expect(stderr.match(/Read-only file system/g)).toHaveLength(3);
    expect(exit_code).toBe(1);
    for (const path of [outside, join(homedir(), ".toolcrib-made"), "/etc/made"]) expect(existsSync(path)).toBe(false);
  });

  test("folders that the package itself lets write are closed", async () => {
    const home = process.env.HOME;
    const user = realpathSync(mkdtempSync(join(tmpdir(), "toolcrib-home-")));
    process.env.HOME = user;
    try {
      for (const folder of [".npm/_logs", ".claude/debug"]) mkdirSync(join(user, folder), { recursive: true });
      const { stdout } = await run("touch ~/.npm/_logs/a; touch ~/.claude/debug/a; touch /tmp/claude/a; echo $?");
      expect(stdout).toBe("1\n");
      for (const folder of [".npm/_logs", ".claude/debug"]) expect(readdirSync(join(user, folder))).toEqual([]);
    } finally {
      process.env.HOME = home;
      rmSync(user, { recursive: true });
    }
  });

  test("protected paths at any depth stay, by every way, and one that is let through does not", async () => {
    const paths = [
      ".git/config",
      ".git/hooks/pre-commit",
      "a/b/c/d/e/AGENTS.md",
      ".mcp.json",
      "sub/[1]/.envrc",
      "CLAUDE.md",
      ".npmrc",
    ];
    for (const path of [".git/HEAD", ...paths]) put(path);
    const tries = paths.flatMap((path) => [
      `echo bad >'${path}'`,
      `rm -f '${path}'`,
      `mv in '${path}'`,
      `ln -sf in '${path}'`,
    ]);
    const { stdout, stderr } = await run(
      ["echo in >in", ...tries, "mv a z", "mv .git .git2", "echo ran >.git/hooks/new", "echo end"].join("\n"),
      { unprotected: ["CLAUDE.md"] },
    );
    expect(stdout).toBe("end\n");
    for (const path of paths.filter((path) => path !== "CLAUDE.md")) expect([path, read(path)]).toEqual([path, "kept"]);
    expect(existsSync(join(root, ".git/hooks/new"))).toBe(false);
    expect(existsSync(join(root, "CLAUDE.md")) && read("CLAUDE.md")).not.toBe("kept");
    expect(stderr).toContain("[sandbox: commands cannot change ");
    expect(stderr).not.toContain("protected paths that were made or changed");
  });

  test("a protected path that was missing is named when it was made", async () => {
    const { stderr } = await run("mkdir -p deep/er; echo x >deep/er/.envrc");
    expect(stderr).toContain("protected paths that were made or changed while this ran: deep/er/.envrc");
  });

  test("denied paths can be neither read nor changed", async () => {
    for (const path of ["app/.env", "keys/[a]/one"]) put(path, "secret");
    const { stdout } = await run(
      "cat app/.env keys/*/one; ls keys; echo x >app/.env; rm -rf app keys; mv app app2; cat app2/.env",
      {},
      { deny: [".env", "keys/"] },
    );
    expect(stdout).not.toContain("secret");
    for (const path of ["app/.env", "keys/[a]/one"]) expect(read(path)).toBe("secret");
  });

  test("variables of the call are set for the command alone, and an odd name or value stays what it is", async () => {
    const env = { ODD: "it's; $(touch made)", LD_PRELOAD: "/nowhere/evil.so", BASH_ENV: join(root, "start") };
    put("start", "touch started");
    const { stdout } = await run({ command: "/usr/bin/printenv ODD 2>&1", env });
    expect(stdout).toContain("it's; $(touch made)\n");
    for (const name of ["made", "started"]) expect(existsSync(join(root, name))).toBe(false);
  });

  test("the text of a command is one argument, whatever it holds", async () => {
    const { stdout } = await run("printf '%s|' 'a\\b' \"$(printf 'x\\ny')\" '!' \"it's\" '`' '$HOME' 'é\u{1f600}'");
    expect(stdout).toBe("a\\b|x\ny|!|it's|`|$HOME|é\u{1f600}|");
  });

  test("exit codes, signals and the time limit are told as without it, and nothing is left running", async () => {
    expect((await run("exit 7")).exit_code).toBe(7);
    expect((await run("kill -9 $$")).exit_code).toBe(137);
    const name = `sleep 31.${process.pid}`;
    expect(await run({ command: `echo begun; setsid ${name} & ${name}`, timeout: 5000 })).toMatchObject({
      stdout: "begun\n",
      exit_code: -1,
    });
    expect(spawnSync("pgrep", ["-f", name], { encoding: "utf8" }).stdout).toBe("");
  });

  test("an abort ends the command, and one before the start runs nothing", async () => {
    const sandbox = createSandboxRuntime({ writable: root });
    const tool = createRunBashTool({ cwd: root, sandbox });
    const early = AbortSignal.abort();
    await expect(tool.execute({ command: "touch made" }, { signal: early })).rejects.toThrow();
    expect(existsSync(join(root, "made"))).toBe(false);
    const abort = new AbortController();
    const onProgress = (): void => abort.abort();
    await expect(
      tool.execute({ command: `echo x; sleep 32.${process.pid}` }, { signal: abort.signal, onProgress }),
    ).rejects.toThrow("Aborted");
    expect(spawnSync("pgrep", ["-f", `sleep 32.${process.pid}`], { encoding: "utf8" }).stdout).toBe("");
  });

  test("commands run side by side and in the background, and nothing of the package stays in the folder", async () => {
    put(".git/HEAD");
    const jobs = createBackgroundJobs();
    const sandbox = createSandboxRuntime({ writable: root });
    const [tool, readOutput, stopCommand] = createBashTools({ cwd: root, sandbox, background: jobs });
    const { id } = JSON.parse((await tool?.execute({ command: "echo up; sleep 60", background: true })) ?? "") as {
      id: string;
    };
    expect(String(await readOutput?.execute({ id, wait: 20_000 }))).toContain('"stdout":"up\\n"');
    const answers = await Promise.all(
      [1, 2, 3].map((number) => tool?.execute({ command: `echo ${number}; echo ${number} >file${number}` })),
    );
    expect(answers.map((answer) => JSON.parse(answer ?? ""))).toEqual(
      [1, 2, 3].map((number) => ({ stdout: `${number}\n`, stderr: "", exit_code: 0 })),
    );
    expect(String(await stopCommand?.execute({ id }))).toContain('"running":false');
    expect(readdirSync(root).sort()).toEqual([".git", "file1", "file2", "file3"]);
  });

  test("a program that used it ends by itself and leaves nothing", () => {
    const program = `
      import { createRunBashTool } from ${JSON.stringify(join(import.meta.dirname, "runBash.ts"))};
      import { createSandboxRuntime } from ${JSON.stringify(join(import.meta.dirname, "sandboxRuntime.ts"))};
      const tool = createRunBashTool({ sandbox: createSandboxRuntime() });
      console.log(String(await tool.execute({ command: 'echo "$TMPDIR"; touch "$TMPDIR/x"' })));`;
    const printed = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
      cwd: root,
      encoding: "utf8",
      timeout: 60_000,
    });
    const { stdout, exit_code } = JSON.parse(printed) as Answer;
    expect(exit_code).toBe(0);
    expect(stdout).toMatch(/toolcrib-/);
    expect(existsSync(stdout.trim())).toBe(false);
    expect(readdirSync(root)).toEqual([]);
  });

  describe("the network", () => {
    let server: Server;
    let port: number;

    beforeAll(async () => {
      server = createServer((_request, response) => response.end("reached"));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      ({ port } = server.address() as AddressInfo);
    });

    afterAll(() => server.close());

    const curl = (words: string): string => `curl -sS -m 20 --noproxy '' ${words}`;
    const direct = (words: string): string => `curl -sS -m 20 --noproxy '*' ${words}`;

    test("reaches a host that is named, and no other, whatever way is taken", async () => {
      const here = `http://127.0.0.1:${port}/`;
      const hosts = [`127.0.0.1:${port}`];
      expect((await run(curl(here), { hosts })).stdout).toBe("reached");
      const { stdout } = await run(
        [
          curl(`http://localhost:${port}/`),
          curl("http://nobody.example/"),
          direct(here),
          direct("http://192.0.2.1/"),
        ].join("; "),
        { hosts },
      );
      expect(stdout).not.toContain("reached");
      expect(stdout).toContain("Connection blocked by network allowlist");
      expect((await run(curl(here))).stdout).not.toContain("reached");
    });

    test("other hosts wait until commands with the first ones have ended, in words", async () => {
      const jobs = createBackgroundJobs();
      const first = createSandboxRuntime({ writable: root, hosts: [`127.0.0.1:${port}`] });
      const [tool] = createBashTools({ cwd: root, sandbox: first, background: jobs });
      const { id } = JSON.parse((await tool?.execute({ command: "sleep 60", background: true })) ?? "") as {
        id: string;
      };
      expect(await refusal({ hosts: ["other.example"] })).toContain(
        "commands with other hosts run in this process now",
      );
      await jobs.stop(id);
      expect((await run("echo on", { hosts: ["other.example"] })).stdout).toBe("on\n");
    });
  });
});

describe("where it cannot be had, nothing is run and the reason is told", () => {
  const missing = Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });

  test.each<[string, SandboxRuntimeOptions, string]>([
    [
      "is not installed",
      { load: () => Promise.reject(missing) },
      "is not installed; run: npm install @anthropic-ai/sandbox-runtime",
    ],
    ["is another one", { load: () => Promise.resolve({}) }, "has no SandboxManager; version 0.0.83 is needed"],
    [
      "does not know the system",
      { load: () => Promise.resolve(fake({ isSupportedPlatform: () => false })) },
      "works only on Linux and macOS",
    ],
    [
      "is used by others",
      { load: () => Promise.resolve(fake({ getProxyPort: () => 1 })) },
      "other code of this process",
    ],
    [
      "has no filter of sockets",
      { load: () => Promise.resolve(fake({ warnings: ["seccomp not available"] })) },
      "seccomp not available",
    ],
    ["holds nothing", { load: () => Promise.resolve(fake()) }, "in a test, it did not protect a protected path"],
    [
      "runs nothing",
      { load: () => Promise.resolve(fake({ line: "echo why >&2" })) },
      "in a test, it could not write where that is allowed: why",
    ],
    ["lets read what is denied", { load: () => Promise.resolve(fake({ line: trial("cat denied") })) }, "a denied path"],
    [
      "lets write outside",
      {
        load: () =>
          Promise.resolve(fake({ line: trial('touch "$PWD/../../$(basename "$(dirname "$PWD")")-outside"') })),
      },
      "outside the writable",
    ],
  ])("the package %s", async (_what, given, words) => {
    const answer = await refusal(given);
    expect(answer).toContain("The sandbox that this tool must run in is not available: ");
    expect(answer).toContain(words);
    expect(existsSync(join(root, "made"))).toBe(false);
    expect(readdirSync(tmpdir()).filter((name) => name.endsWith("-outside"))).toEqual([]);
    expect(await sandboxProblem({ cwd: root, sandbox: createSandboxRuntime({ writable: root, ...given }) })).toContain(
      words,
    );
  });

  test.skipIf(problem !== undefined)("hosts that it does not take", async () => {
    expect(await refusal({ hosts: ["https://example.com/path"] })).toContain(
      "hosts: @anthropic-ai/sandbox-runtime does not accept them",
    );
  });

  test("wrong options throw", () => {
    expect(() => createSandboxRuntime({ host: [] } as never)).toThrow('unknown option "host"; did you mean "hosts"?');
    expect(() => createSandboxRuntime({ hosts: "example.com" as never })).toThrow("hosts must be an array of strings");
    expect(() => createSandboxRuntime({ hosts: undefined as never })).toThrow("hosts must be");
    expect(() => createSandboxRuntime({ unprotected: ["!a"] })).toThrow();
    expect(() => createSandboxRuntime({ writable: "" })).toThrow();
  });
});

/** A trial that holds what is protected, and then does this in its folder. */
function trial(what: string): string {
  return `cd "$TMPDIR_OF_TRIAL"/trial*; touch made; ${what}`;
}

interface Fake {
  isSupportedPlatform?: () => boolean;
  getProxyPort?: () => number | undefined;
  warnings?: string[];
  line?: string;
}

/** A package that confines nothing. */
function fake({ isSupportedPlatform, getProxyPort, warnings = [], line }: Fake = {}): object {
  return {
    SandboxRuntimeConfigSchema: { parse: () => undefined },
    SandboxManager: {
      isSupportedPlatform: isSupportedPlatform ?? (() => true),
      getProxyPort: getProxyPort ?? (() => undefined),
      initialize: () => Promise.resolve(),
      checkDependencies: () => ({ errors: [], warnings }),
      wrapWithSandbox: (
        command: string,
        _shell: string,
        { filesystem }: { filesystem: { allowWrite: { path: string }[] } },
      ) => Promise.resolve(line?.replace('"$TMPDIR_OF_TRIAL"', filesystem.allowWrite.at(-1)?.path ?? "") ?? command),
      cleanupAfterCommand: () => {},
      reset: () => Promise.resolve(),
    },
  };
}
