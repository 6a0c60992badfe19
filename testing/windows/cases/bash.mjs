// run_bash with the `sh` of Git for Windows, or one that TOOLCRIB_WINDOWS_SH names; without one, what it says.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ToolRegistry } from "@toolcrib/core";
import { testTool } from "@toolcrib/core/testing";
import { createBackgroundJobs, createBashTools, createRunBashTool, sandboxProblem } from "@toolcrib/tools-bash";
import { newFolder, runTests, test } from "../harness.mjs";

const given = process.env.TOOLCRIB_WINDOWS_SH;
const usual = join(process.env.ProgramFiles ?? "C:\\Program Files", "Git", "bin", "sh.exe");
const shell = given ?? (existsSync(usual) ? "sh" : undefined);
const noShell = shell === undefined ? "no sh for Windows here; TOOLCRIB_WINDOWS_SH names one" : undefined;
const folder = newFolder();
const create = (options) => createRunBashTool({ cwd: folder, shell: shell ?? "sh", ...options });

async function run(args, options) {
  const text = await new ToolRegistry([create(options)]).execute("run_bash", args);
  return text.startsWith("{") ? JSON.parse(text) : text;
}

test("without a sh on PATH outside the roots a call says what to install, and starts nothing", async () => {
  const root = newFolder();
  // One that tools could have written.
  mkdirSync(join(root, "bin"));
  writeFileSync(join(root, "bin", "sh.exe"), "MZ");
  const { PATH, ProgramFiles } = process.env;
  process.env.PATH = `${join(root, "bin")};;.;bin;${join(process.env.SystemRoot, "System32")}`;
  process.env.ProgramFiles = join(root, "bin");
  try {
    for (const name of ["sh", "bash"]) {
      const registry = new ToolRegistry([createRunBashTool({ root, cwd: root, shell: name })]);
      assert.equal(
        await registry.execute("run_bash", { command: "echo x > made.txt" }),
        `Error executing run_bash: No ${name} on PATH outside the directories that tools may write; install Git for Windows and add the folder of its ${name}.exe to PATH`,
      );
    }
    assert.equal(existsSync(join(root, "made.txt")), false);
  } finally {
    Object.assign(process.env, { PATH, ProgramFiles });
  }
});

test("a sandbox that is asked for and not there is said so", async () => {
  assert.match(String(await sandboxProblem({ root: folder })), /Linux/);
});

testTool((check, runCheck) => test(`run_bash: ${check}`, runCheck, noShell), {
  create: () => create(),
  validArgs: () => ({ command: "sleep 0.1; pwd" }),
});

test(
  "a command writes both streams, and ends with its code",
  async () => {
    writeFileSync(join(folder, "a.txt"), "z\u00fcrich\r\n");
    assert.deepEqual(await run({ command: "echo out; echo err >&2; exit 3" }), {
      stdout: "out\n",
      stderr: "err\n",
      exit_code: 3,
    });
    assert.match((await run({ command: "cat a.txt" })).stdout, /^z\u00fcrich\r?\n$/);
    assert.match((await run({ command: 'echo "$TRIED"', env: { TRIED: "a b" } })).stdout, /^a b\r?\n$/);
    assert.equal((await run({ command: "cat" })).stdout, "");
  },
  noShell,
);

// Windows answers 128 for a process that is not there; Wine 8 answers 1, as it knows no /T.
const noTrees =
  noShell ??
  (spawnSync("taskkill", ["/PID", "99999998", "/T", "/F"]).status === 128
    ? undefined
    : "this taskkill knows no /T (Wine 8), so only the shell itself ends");

/** Starts a program that writes a number into a file again and again, for 20 s, so that its end can be seen. */
const counting = (file) =>
  `"${process.execPath.replaceAll("\\", "/")}" -e "let n=0;setInterval(()=>n<1000?require('fs').writeFileSync('${file}',String(n++)):process.exit(),20)"`;
async function isCounting(file) {
  const path = join(folder, file);
  for (let tries = 0; tries < 100 && !existsSync(path); tries += 1) await sleep(20);
  const before = readFileSync(path, "utf8");
  await sleep(300);
  return readFileSync(path, "utf8") !== before;
}

test(
  "the time limit ends the command",
  async () => {
    const { exit_code, stdout, stderr } = await run({ command: "echo kept; sleep 100", timeout: 2000 });
    assert.deepEqual([exit_code, stdout], [-1, "kept\n"]);
    assert.match(stderr, /\[timed out after 2000 ms\]$/);
  },
  noShell,
);

test(
  "an abort ends it too",
  async () => {
    const signal = AbortSignal.timeout(2000);
    const text = await new ToolRegistry([create()]).execute("run_bash", { command: "sleep 100" }, { signal });
    assert.match(text, /^Error executing run_bash: /);
  },
  noShell,
);

test(
  "output beyond the limit is cut, with a notice",
  async () => {
    const { stdout } = await run({ command: "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done" });
    assert.ok(Buffer.byteLength(stdout) < 60_000);
    assert.match(stdout, /\[truncated: /);
  },
  noShell,
);

/** Starts a command in the background; `text` is what is to be read of it before `use`. */
async function inBackground(command, text, use) {
  const jobs = createBackgroundJobs();
  const registry = new ToolRegistry(createBashTools({ cwd: folder, shell, background: jobs }));
  const { id } = JSON.parse(await registry.execute("run_bash", { command, background: true }));
  try {
    assert.match(await registry.execute("read_output", { id, wait: 5000 }), text);
    await use(() => registry.execute("stop_command", { id }));
  } finally {
    jobs.end();
  }
}

test(
  "a command in the background is read and stopped",
  () => inBackground("echo ready; sleep 100", /ready/, async (stop) => assert.match(await stop(), /"running":false/)),
  noShell,
);

test(
  "what a command started ends with it: at its limit, at an abort, and when it is stopped",
  async () => {
    await run({ command: `${counting("limit.txt")}; true`, timeout: 3000 });
    assert.equal(await isCounting("limit.txt"), false);
    const signal = AbortSignal.timeout(3000);
    await new ToolRegistry([create()]).execute("run_bash", { command: `${counting("abort.txt")}; true` }, { signal });
    assert.equal(await isCounting("abort.txt"), false);
    await inBackground(`echo ready; ${counting("job.txt")}; true`, /ready/, async (stop) => {
      assert.equal(await isCounting("job.txt"), true);
      await stop();
      assert.equal(await isCounting("job.txt"), false);
    });
  },
  noTrees,
);

await runTests();
