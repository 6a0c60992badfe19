// Commands: foreground, background, input, limits, kills. Everything that was printed is looked at.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ToolRegistry } from "@toolcrib/core";
import { testTool } from "@toolcrib/core/testing";
import { createBackgroundJobs, createBashTools, createLeftovers, sandboxProblem } from "@toolcrib/tools-bash";

let serial = 0;
function uniqueSleep() {
  serial += 1;
  return `${5000 + serial}.${process.pid}`;
}

const withArgument = (argument) =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(argument);
    } catch {
      return false;
    }
  }).length;

/** Waits until this holds. */
async function until(holds, what) {
  for (let round = 0; round < 600; round += 1) {
    if (await holds()) return;
    await sleep(50);
  }
  assert.fail(`${what} did not come to hold`);
}

export function commands({ test, folder, atEnd }) {
  const jobs = createBackgroundJobs();
  atEnd(() => void jobs.end());
  const options = { cwd: folder, background: jobs, input: true, spill: join(folder, "spilled") };
  const tools = new ToolRegistry(createBashTools(options));
  const parse = async (answer) => {
    const text = String(await answer);
    assert.ok(text.startsWith("{"), text);
    return JSON.parse(text);
  };
  const run = (command, args = {}, extra = {}) => parse(tools.execute("run_bash", { command, ...args }, extra));
  const start = async (command, args = {}) => (await run(command, { background: true, ...args })).id;
  const stop = (id) => parse(tools.execute("stop_command", { id }));
  const readUntil = async (id, text) => {
    let [stdout, stderr] = ["", ""];
    for (;;) {
      const reading = await parse(tools.execute("read_output", { id, wait: 60_000 }));
      [stdout, stderr] = [stdout + reading.stdout, stderr + reading.stderr];
      if (!reading.running || (text !== undefined && stdout.includes(text))) return { ...reading, stdout, stderr };
    }
  };
  const id = async (command) => ({ id: await start(command) });
  const validArgs = {
    run_bash: () => ({ command: "sleep 0.1; pwd" }),
    read_output: () => id("echo on"),
    stop_command: () => id("echo on"),
    write_input: async () => {
      for (const job of jobs.list()) if (job.running) await jobs.stop(job.id);
      return { id: await start("cat >/dev/null", { input: true }), text: "x\n" };
    },
  };
  for (const tool of createBashTools(options))
    testTool((words, check) => test(`${tool.name}: ${words}`, check), {
      create: () => tool,
      validArgs: validArgs[tool.name],
    });

  test("answer what was printed on both streams, and the exit code, in the directory and with the variables", async () => {
    const answer = await run('echo "$GIVEN"; pwd; echo warn >&2; exit 3', { env: { GIVEN: "é 😀" } });
    assert.deepEqual(answer, { stdout: `é 😀\n${folder}\n`, stderr: "warn\n", exit_code: 3 });
    for (const [command, code] of [
      ["kill -TERM $$", 143],
      ["kill -KILL $$", 137],
      ["nosuchcommand_ 2>&-", 127],
      ["cat; read line; exit 9", 9],
    ])
      assert.deepEqual(await run(command), { stdout: "", stderr: "", exit_code: code }, command);
  });

  test("have streams that they can open again, and no descriptor of this program", async () => {
    const command = "echo a > /dev/stderr; echo b | tee /dev/stderr; (echo d >> /dev/fd/2); echo e > /dev/stdout";
    assert.deepEqual(await run(command), { stdout: "b\ne\n", stderr: "a\nb\nd\n", exit_code: 0 });
    const { stdout } = await run("for d in /proc/$$/fd/*; do case $d in */[012]) ;; *) readlink $d; esac; done; true");
    assert.deepEqual(
      stdout.split("\n").filter((target) => target !== "" && target !== "/dev/null"),
      [],
    );
    assert.equal((await run("cat <&2 2>&-; echo ended")).stdout, "ended\n");
  });

  test("are cut to 50 KB a stream, and kept whole in a file", async () => {
    const { stdout, stderr } = await run("seq 100000; seq 200000 -1 100000 >&2");
    assert.match(stdout, /^1\n2\n[\s\S]*\n100000\n\n\[truncated: shown \d+ of 588895 bytes; all of it is in \S+\]$/);
    assert.match(stderr, /^200000\n[\s\S]*\n100000\n\n\[truncated: /);
    const path = / in (\S+)\]$/.exec(stdout)[1];
    assert.equal(readFileSync(path, "utf8").split("\n").length, 100_001);
  });

  test("report what they print while they run", async () => {
    const seen = [];
    await run("echo first; sleep 0.5; echo last", {}, { onProgress: ({ message }) => seen.push(message) });
    assert.match(seen.join("\n"), /first/);
  });

  test("that are too long, or whose directory is missing, are refused in words", async () => {
    const words = (command, args) => tools.execute("run_bash", { command, ...args });
    assert.match(await words(`: ${"x".repeat(4_000_000)}`), /put the data into a file/);
    assert.match(await words("true", { cwd: "missing" }), /no such directory: missing/);
    const missing = createBashTools({ shell: "/usr/missing-shell", background: true })[0];
    for (const background of [false, true])
      await assert.rejects(async () => missing.execute({ command: "true", background }), /ENOENT/);
    assert.deepEqual(await run("echo fine"), { stdout: "fine\n", stderr: "", exit_code: 0 });
  });

  test("end at their limit with all that they started, and what was printed is kept", async () => {
    const argument = uniqueSleep();
    const command = `echo kept; setsid sleep ${argument} & (env -i sleep ${argument} &); trap '' TERM; sleep ${argument}`;
    const answer = await run(command, { timeout: 1500 });
    assert.deepEqual(answer, { stdout: "kept\n", stderr: "[timed out after 1500 ms]", exit_code: -1 });
    assert.equal(withArgument(argument), 0);
  });

  test("end at an abort", async () => {
    const argument = uniqueSleep();
    const controller = new AbortController();
    const command = `setsid sleep ${argument} & sleep ${argument}; touch too-late`;
    const running = tools.invoke("run_bash", { command }, { signal: controller.signal });
    await until(() => withArgument(argument) === 2, "the command");
    controller.abort();
    assert.equal((await running).error.code, "aborted");
    await until(() => withArgument(argument) === 0, "its end");
    assert.equal(existsSync(join(folder, "too-late")), false);
  });

  test("that leave a process running are not waited for, and it is named, and ended with the leftovers", async () => {
    const leftovers = createLeftovers();
    const [tool] = createBashTools({ leftovers });
    const argument = uniqueSleep();
    const { stdout, stderr } = await parse(tool.execute({ command: `sleep ${argument} & echo started` }));
    assert.equal(stdout, "started\n");
    assert.match(stderr, new RegExp(`^\\[still running in the background: \\d+ \\(sleep ${argument}\\)\\]$`));
    assert.equal(leftovers.end(), 1);
    await until(() => withArgument(argument) === 0, "its end");
  });

  test("run side by side, and a hundred in a row leave no descriptor open", async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => run(`sleep 0.2; echo ${index}`)));
    assert.deepEqual(
      answers.map(({ stdout }) => stdout),
      answers.map((_, index) => `${index}\n`),
    );
    const open = () => readdirSync("/proc/self/fd").length;
    const before = open();
    for (let round = 0; round < 100; round += 1) assert.equal((await run(`echo ${round}`)).stdout, `${round}\n`);
    await until(() => open() <= before + 16, "what was open before");
  });

  test("in the background are answered at once, read while they run, and stopped with all that they started", async () => {
    const argument = uniqueSleep();
    const job = await start(`echo one; until test -e go; do sleep 0.05; done; echo two; echo warn >&2; exit 3`);
    assert.deepEqual(await readUntil(job, "one"), { running: true, exit_code: null, stdout: "one\n", stderr: "" });
    writeFileSync(join(folder, "go"), "");
    assert.deepEqual(await readUntil(job), { running: false, exit_code: 3, stdout: "two\n", stderr: "warn\n" });
    const other = await start(`setsid sleep ${argument} & echo on; sleep ${argument}`);
    assert.equal((await readUntil(other, "on")).running, true);
    await until(() => withArgument(argument) === 2, "the command");
    assert.equal((await stop(other)).exit_code, 137);
    assert.equal(withArgument(argument), 0);
  });

  test("get input as it is, in pieces and in bulk, can open it again, and are told its end", async () => {
    const say = (job, args) => parse(tools.execute("write_input", { id: job, ...args }));
    const job = await start('while read -r line; do echo "<$line>"; done; echo end', { input: true });
    assert.deepEqual(await say(job, { text: "é $(x) \\\n" }), {
      running: true,
      written: 10,
      waiting: 0,
      input: "open",
    });
    assert.equal((await readUntil(job, ">\n")).stdout, "<é $(x) \\>\n");
    await say(job, { text: "two\n", close: true });
    assert.equal((await readUntil(job)).stdout, "<two>\nend\n");
    const bulk = await start("cat /dev/stdin | wc -c", { input: true });
    for (let index = 0; index < 20; index += 1) await say(bulk, { text: "é".repeat(32_768) });
    await say(bulk, { close: true });
    assert.equal((await readUntil(bulk)).stdout.trim(), "1310720");
    const closing = await start("exec <&-; echo closed; sleep 60", { input: true });
    await readUntil(closing, "closed");
    await until(
      async () => /its input/.test(await tools.execute("write_input", { id: closing, text: "x" })),
      "the word that nobody reads",
    );
    await stop(closing);
    const waiting = await start("sleep 60", { input: true });
    let refused = "";
    for (let index = 0; index < 20 && refused === ""; index += 1) {
      const answer = await tools.execute("write_input", { id: waiting, text: "x".repeat(65_536) });
      if (answer.startsWith("Error")) refused = answer;
    }
    assert.match(refused, /has not read \d+ bytes that wait for it/);
    await stop(waiting);
  });

  test("run by bash, which takes its input for no connection from elsewhere", async () => {
    const [bash] = createBashTools({ shell: "bash", cwd: folder });
    writeFileSync(join(folder, ".bashrc"), "echo started");
    const env = { HOME: folder, SHLVL: "0" };
    const { stdout } = await parse(bash.execute({ command: `echo "\${BASH_VERSION:+bash}"`, env }));
    assert.equal(stdout, "bash\n");
    const background = new ToolRegistry(createBashTools({ shell: "bash", cwd: folder, background: jobs, input: true }));
    const args = { command: 'read -r line; echo "<$line>"', background: true, input: true, env };
    const job = (await parse(background.execute("run_bash", args))).id;
    await tools.execute("write_input", { id: job, text: "a\n" });
    assert.equal((await readUntil(job)).stdout, "<a>\n");
  });

  test("are confined by bubblewrap where that is installed, in the background as well", async () => {
    const confined = { cwd: folder, root: folder, sandbox: true, deny: [".secret"], background: jobs };
    if ((await sandboxProblem({ sandbox: true, root: folder })) !== undefined) return;
    for (const file of [".secret", ".envrc"]) writeFileSync(join(folder, file), "kept");
    const registry = new ToolRegistry(createBashTools(confined));
    const command = "cat .secret; echo x > .envrc; touch /usr/x; echo made > made; cat made";
    const { stdout, stderr } = await parse(registry.execute("run_bash", { command }));
    assert.equal(stdout, "made\n");
    assert.match(stderr, /\.secret: Permission denied\n[\s\S]*\.envrc[\s\S]*Read-only[\s\S]*\/usr\/x[\s\S]*Read-only/);
    const { id: job } = await parse(registry.execute("run_bash", { command: `${command}; exit 4`, background: true }));
    const reading = await readUntil(job);
    assert.deepEqual([reading.stdout, reading.exit_code], ["made\n", 4]);
  });

  test("in the background do not keep the program from ending, and end with it, also by a signal", async () => {
    for (const signal of [undefined, "SIGTERM"]) {
      const argument = uniqueSleep();
      const words = [...process.execArgv.filter((word) => word !== "-"), ...runtimeWords()];
      const child = spawn(
        process.execPath,
        [...words, fileURLToPath(new URL("./leaving.mjs", import.meta.url)), argument, String(signal)],
        {
          stdio: ["ignore", "pipe", "pipe"],
        },
      );
      let printed = "";
      child.stderr.on("data", (chunk) => {
        printed += chunk;
      });
      child.stdout.on("data", (chunk) => {
        printed += chunk;
        if (signal && /ready\n$/.test(printed)) process.kill(child.pid, signal);
      });
      const end = await new Promise((resolve) => child.once("close", (code, by) => resolve(by ?? code)));
      assert.deepEqual([end, printed], [signal ?? 0, "ready\n"]);
      await until(() => withArgument(argument) === 0, "its end");
    }
  });
}

/** The words before a file that start a program as this one was started. */
function runtimeWords() {
  return "deno" in process.versions ? ["run", "--allow-all", "--no-lock"] : [];
}
