import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type Answer,
  answerOf,
  passLimit,
  readJob,
  run as runWith,
  startJob,
  temporaryFolder,
  uniqueSleep,
  withArgument,
  writeIn,
} from "../fixtures/commands.ts";
import { createBashTools } from "./bash.ts";
import { type RunBashOptions, sandboxProblem } from "./bashOptions.ts";
import { createBackgroundJobs } from "./jobs/backgroundJobs.ts";
import { createRunBashTool } from "./runBash.ts";
import { createSandboxRuntime, type SandboxRuntimeOptions } from "./sandboxRuntime.ts";

/* The sandbox that @anthropic-ai/sandbox-runtime makes, with the package itself. */

let root: string;
beforeEach(() => {
  root = temporaryFolder("runtime");
  return () => vi.unstubAllEnvs();
});

function run(
  command: string,
  given: SandboxRuntimeOptions = {},
  options: RunBashOptions = {},
  args = {},
): Promise<Answer> {
  const sandbox = createSandboxRuntime({ writable: root, ...given });
  return runWith(command, args, { cwd: root, root, sandbox, ...options });
}

async function refusal(given: SandboxRuntimeOptions): Promise<string> {
  const sandbox = createSandboxRuntime({ writable: root, ...given });
  return new ToolRegistry([createRunBashTool({ cwd: root, sandbox })]).execute("run_bash", { command: "touch made" });
}

const put = (path: string, text = "kept"): void => writeIn(root, path, text);
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
    const user = temporaryFolder("home");
    vi.stubEnv("HOME", user);
    for (const folder of [".npm/_logs", ".claude/debug"]) mkdirSync(join(user, folder), { recursive: true });
    const { stdout } = await run("touch ~/.npm/_logs/a; touch ~/.claude/debug/a; touch /tmp/claude/a; echo $?");
    expect(stdout).toBe("1\n");
    for (const folder of [".npm/_logs", ".claude/debug"]) expect(readdirSync(join(user, folder))).toEqual([]);
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

  test("the command is one argument and variables are set for it alone, whatever they hold", async () => {
    const env = { ODD: "it's; $(touch made)", LD_PRELOAD: "/nowhere/evil.so", BASH_ENV: join(root, "start") };
    put("start", "touch started");
    const { stdout } = await run("/usr/bin/printenv ODD 2>&1", {}, {}, { env });
    expect(stdout).toContain("it's; $(touch made)\n");
    const words = await run("printf '%s|' 'a\\b' \"$(printf 'x\\ny')\" '!' \"it's\" '`' '$HOME' 'é\u{1f600}'");
    expect(words.stdout).toBe("a\\b|x\ny|!|it's|`|$HOME|é\u{1f600}|");
    for (const name of ["made", "started"]) expect(existsSync(join(root, name))).toBe(false);
  });

  test("exit codes, signals, the time limit and an abort are as without it, and nothing is left running", async () => {
    expect((await run("exit 7")).exit_code).toBe(7);
    expect((await run("kill -9 $$")).exit_code).toBe(137);
    const sleep = uniqueSleep();
    const command = `echo begun; setsid sleep ${sleep} & sleep ${sleep}`;
    const limited = await passLimit(
      () => run(command, {}, {}, { timeout: 5000 }),
      () => withArgument(sleep).length === 2,
    );
    expect(limited).toMatchObject({ stdout: "begun\n", exit_code: -1 });
    const tool = createRunBashTool({ cwd: root, sandbox: createSandboxRuntime({ writable: root }) });
    const early = { signal: AbortSignal.abort() };
    await expect(tool.execute({ command: "touch made" }, early)).rejects.toThrow();
    expect(existsSync(join(root, "made"))).toBe(false);
    const abort = new AbortController();
    const call = { signal: abort.signal, onProgress: (): void => abort.abort() };
    await expect(tool.execute({ command: `echo x; sleep ${sleep}` }, call)).rejects.toThrow("Aborted");
    await expect.poll(() => withArgument(sleep)).toEqual([]);
  });

  test("commands run side by side and in the background, and nothing of the package stays in the folder", async () => {
    put(".git/HEAD");
    const sandbox = createSandboxRuntime({ writable: root });
    const tools = createBashTools({ cwd: root, sandbox, background: true, input: true });
    const registry = new ToolRegistry(tools);
    const id = await startJob(registry, "echo up; sleep 60");
    expect((await readJob(registry, id, "up")).running).toBe(true);
    const reader = await startJob(registry, "cat", { input: true });
    await registry.execute("write_input", { id: reader, text: "in\n", close: true });
    expect(await readJob(registry, reader)).toMatchObject({ stdout: "in\n", exit_code: 0 });
    const answers = await Promise.all(
      [1, 2, 3].map((number) => answerOf(tools[0], `echo ${number}; echo ${number} >file${number}`)),
    );
    expect(answers).toEqual([1, 2, 3].map((number) => ({ stdout: `${number}\n`, stderr: "", exit_code: 0 })));
    expect(await registry.execute("stop_command", { id })).toContain('"running":false');
    expect(readdirSync(root).sort()).toEqual([".git", "file1", "file2", "file3"]);
  });

  test("a program that used it ends by itself and leaves nothing, and git adds all but placeholders and what its user excludes", () => {
    const program = `
      import { createRunBashTool } from ${JSON.stringify(join(import.meta.dirname, "runBash.ts"))};
      import { createSandboxRuntime } from ${JSON.stringify(join(import.meta.dirname, "sandboxRuntime.ts"))};
      const command = 'echo "$TMPDIR"; touch "$TMPDIR/x"; git add -A && touch own.b && git status --short';
      const tool = createRunBashTool({ sandbox: createSandboxRuntime() });
      console.log(String(await tool.execute({ command })));`;
    execFileSync("git", ["init", "-q"], { cwd: root });
    for (const [path, text] of Object.entries({ ignore: "*.log\n/ignore\n", "a.txt": "", "b.log": "" }))
      put(path, text);
    execFileSync("git", ["config", "core.excludesFile", join(root, "ignore")], { cwd: root });
    const printed = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
      cwd: root,
      encoding: "utf8",
      timeout: 60_000,
    });
    const { stdout, exit_code } = JSON.parse(printed) as Answer;
    expect(exit_code).toBe(0);
    const [temporary = "", ...added] = stdout.trim().split("\n");
    expect(temporary).toMatch(/toolcrib-/);
    expect(existsSync(temporary)).toBe(false);
    // Neither what the package puts in the place of protected names, nor what the user's own list has.
    expect(added).toEqual(["A  a.txt", "?? own.b"]);
    expect(readdirSync(root).sort()).toEqual([".git", "a.txt", "b.log", "ignore", "own.b"]);
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

    test("hosts that it does not take are an error", async () => {
      expect(await refusal({ hosts: ["https://example.com/path"] })).toContain(
        "hosts: @anthropic-ai/sandbox-runtime does not accept them",
      );
    });

    test("other hosts wait until commands with the first ones have ended, in words", async () => {
      const jobs = createBackgroundJobs();
      const first = createSandboxRuntime({ writable: root, hosts: [`127.0.0.1:${port}`] });
      const registry = new ToolRegistry(createBashTools({ cwd: root, sandbox: first, background: jobs }));
      const id = await startJob(registry, "sleep 60");
      expect(await refusal({ hosts: ["other.example"] })).toContain(
        "commands with other hosts run in this process now",
      );
      await jobs.stop(id);
      expect((await run("echo on", { hosts: ["other.example"] })).stdout).toBe("on\n");
    });
  });
});
