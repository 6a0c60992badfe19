import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Answer,
  passLimit,
  readJob,
  run as runWith,
  startJob,
  uniqueSleep,
  withArgument,
} from "../../fixtures/commands.ts";
import { placeOutside, whyNoSandbox } from "../../fixtures/sandbox.ts";
import { createBashTools } from "../bash.ts";
import type { RunBashOptions } from "../bashOptions.ts";
import { createRunBashTool } from "../runBash.ts";

let inside: string;
let outside: string;

beforeAll(async () => {
  inside = await realpath(await mkdtemp(join(tmpdir(), "toolcrib-sandbox-")));
  outside = await realpath(await mkdtemp(join(placeOutside, ".toolcrib-outside-")));
  await mkdir(join(inside, "sub"));
  await writeFile(join(outside, "file"), "kept");
});

afterAll(() => Promise.all([inside, outside].map((path) => rm(path, { recursive: true }))));

const run = (command: string, args = {}, options: RunBashOptions = {}): Promise<Answer> =>
  runWith(command, args, { root: inside, sandbox: true, ...options });

describe.runIf(whyNoSandbox === undefined)(`sandbox (${whyNoSandbox ?? "available"})`, () => {
  test("writes go to the roots only", async () => {
    expect(await run("echo new > made; mkdir sub/x; cat made")).toEqual({ stdout: "new\n", stderr: "", exit_code: 0 });
    expect(readFileSync(join(inside, "made"), "utf8")).toBe("new\n");
    for (const command of [
      `echo bad > ${outside}/file`,
      `rm -rf ${outside}/file`,
      `touch ${outside}/new`,
      "touch /etc/x",
    ]) {
      expect((await run(command)).exit_code).not.toBe(0);
    }
    expect(readFileSync(join(outside, "file"), "utf8")).toBe("kept");
    expect(existsSync(join(outside, "new"))).toBe(false);
  });

  test("what is mounted read-only cannot be mounted again to be written", async () => {
    for (const command of [
      `mount -o remount,rw,bind /; echo bad > ${outside}/file`,
      `unshare -Urm sh -c 'mount -o remount,rw,bind /; echo bad > ${outside}/file'`,
      `unshare -Urm sh -c 'umount -l /tmp; echo bad > ${outside}/file'`,
    ]) {
      await run(command);
      expect(readFileSync(join(outside, "file"), "utf8")).toBe("kept");
    }
  });

  test("a link inside the roots does not lead a write out of them", async () => {
    expect((await run(`ln -s ${outside} out && echo bad > out/file`)).exit_code).not.toBe(0);
    expect(readFileSync(join(outside, "file"), "utf8")).toBe("kept");
  });

  test("other processes are out of reach", async () => {
    expect((await run(`kill -0 ${process.pid}`)).exit_code).not.toBe(0);
  });

  test("there is no network, loopback included, unless it is allowed", async () => {
    const server = createServer((_, response) => response.end("hello"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    // By bash, not by node: that may lie below /tmp, which is private in the sandbox.
    const get = `exec 3<>/dev/tcp/127.0.0.1/${port} && printf "GET / HTTP/1.0\\r\\n\\r\\n" >&3 && tail -n 1 <&3`;
    const command = `bash -c '${get}' 2>/dev/null || exit 7`;
    try {
      expect((await run(command)).exit_code).toBe(7);
      expect(await run(command, {}, { sandbox: { network: true } })).toEqual({
        stdout: "hello",
        stderr: "",
        exit_code: 0,
      });
    } finally {
      server.close();
    }
  });

  test("no argument or variable of a call switches it off", async () => {
    const env = { PATH: `${inside}:${process.env.PATH}`, BWRAP: "off" };
    const answer = await run(`echo bad > ${outside}/file`, { env, cwd: outside, timeout: 5000 });
    expect(answer.exit_code).not.toBe(0);
    expect(readFileSync(join(outside, "file"), "utf8")).toBe("kept");
  });

  test("exit codes, signals, the limit and the environment are as without it", async () => {
    expect((await run("exit 3")).exit_code).toBe(3);
    expect((await run("kill -KILL $$")).exit_code).toBe(137);
    expect((await run("echo $AI_AGENT $MINE; pwd", { cwd: "sub", env: { MINE: "a b" } })).stdout).toBe(
      `toolcrib a b\n${inside}/sub\n`,
    );
    const sleep = uniqueSleep();
    const limited = await passLimit(
      () => run(`echo early; setsid sleep ${sleep} & sleep ${sleep}`, { timeout: 3000 }),
      () => withArgument(sleep).length === 2,
    );
    expect(limited).toEqual({ stdout: "early\n", stderr: "[timed out after 3000 ms]", exit_code: -1 });
    expect(await run(`setsid sleep ${sleep} & echo started`)).toEqual({
      stdout: "started\n",
      stderr: "",
      exit_code: 0,
    });
    await expect.poll(() => withArgument(sleep)).toEqual([]);
  });

  test("output can be opened again, and commands in the background run in it, get input and leave nothing behind", async () => {
    const command = "echo a > /dev/stderr; echo b | tee /dev/stderr; (echo d >> /dev/fd/2); echo e > /dev/stdout";
    expect(await run(command)).toEqual({ stdout: "b\ne\n", stderr: "a\nb\nd\n", exit_code: 0 });
    const options = { root: inside, sandbox: true, background: true, input: true, deny: [".secret"] } as const;
    const registry = new ToolRegistry(createBashTools(options));
    const sleep = uniqueSleep();
    const id = await startJob(registry, `echo x > .secret; touch /etc/x; setsid sleep ${sleep} & echo on; wait`);
    expect((await readJob(registry, id, "on")).running).toBe(true);
    expect(openPaths().filter((path) => path.startsWith(inside))).toEqual([]);
    const other = await startJob(registry, "cat .secret; cat", { input: true });
    await registry.execute("write_input", { id: other, text: "in\n", close: true });
    expect((await readJob(registry, other)).stdout).toBe("in\n");
    await registry.execute("stop_command", { id });
    await expect.poll(() => withArgument(sleep)).toEqual([]);
    await rm(join(inside, ".secret"));
  });

  test("stderr of a failed command ends with what the sandbox may have refused", async () => {
    const sandbox = { remedies: { write: "--root DIR adds a directory" } };
    const failed = await run(`touch ${outside}/new`, {}, { sandbox });
    expect(failed.stderr).toMatch(
      /Read-only file system\n\[sandbox: commands can write only in [^;]*; --root DIR adds a directory\]$/,
    );
    expect((await run(`touch ${outside}/new; true`)).stderr).not.toContain("[sandbox");
    const limit = await passLimit(
      () => run("echo EROFS; touch printed; sleep 600", { timeout: 3000 }),
      () => existsSync(join(inside, "printed")),
    );
    expect(limit.stderr).toMatch(/^\[sandbox: [^\n]*\]\n\[timed out after 3000 ms\]$/);
    expect((await run("echo EROFS; exit 1", {}, { sandbox: false })).stderr).toBe("");
  });

  test("writable overrides the roots", async () => {
    const sandbox = { writable: join(inside, "sub") };
    expect((await run("touch sub/ok && touch no", {}, { sandbox })).exit_code).not.toBe(0);
    expect(existsSync(join(inside, "sub/ok"))).toBe(true);
    expect(existsSync(join(inside, "no"))).toBe(false);
  });

  test("what is readable is shown in /tmp, too, for reading alone and without what is denied", async () => {
    const library = await realpath(await mkdtemp("/tmp/toolcrib-readable-"));
    try {
      await writeFile(join(library, "api.md"), "# API\n");
      await writeFile(join(library, ".env"), "TOKEN=hush\n");
      const command = `cat ${library}/api.md; cat ${library}/.env; echo bad > ${library}/api.md`;
      expect((await run(command)).stdout).toBe("");
      const options = { readable: [library, join(library, "not there yet")], deny: [".env"] };
      expect(await run(command, {}, options)).toMatchObject({ stdout: "# API\n" });
      expect(readFileSync(join(library, "api.md"), "utf8")).toBe("# API\n");
      expect((await run("pwd", { cwd: library }, options)).stdout).toBe(`${library}\n`);
      // What is hidden stays hidden.
      const hidden = { readable: library, sandbox: { hidden: [library] } };
      expect((await run(`cat ${library}/api.md`, {}, hidden)).stdout).toBe("");
    } finally {
      await rm(library, { recursive: true });
    }
  });

  test("what is readable and became a loop of links, or lies below what may not be entered, is not shown", async () => {
    const library = await realpath(await mkdtemp("/tmp/toolcrib-readable-"));
    try {
      const readable = ["loop", "shut/in"].map((name) => join(library, name));
      const tool = createRunBashTool({ root: inside, sandbox: true, readable });
      await symlink("loop", join(library, "loop"));
      await mkdir(join(library, "shut"), { mode: 0 });
      expect(JSON.parse(await tool.execute({ command: "echo fine" }))).toMatchObject({ stdout: "fine\n" });
    } finally {
      await rm(library, { recursive: true });
    }
  });

  test("a hidden directory of a root cannot be read, changed, moved or made anew", async () => {
    const secret = join(inside, "hide", "deep", "secret");
    await mkdir(secret, { recursive: true });
    await writeFile(join(secret, "file"), "kept");
    const sandbox = { hidden: [secret] };
    const attack = `ls hide/deep/secret; cat hide/deep/secret/file; echo bad > hide/deep/secret/file; rm -r hide/deep
      mv hide/deep/secret hide/x; mv hide/deep hide/x; mv hide y; mkdir -p hide/deep/secret; echo bad > hide/deep/secret/new; true`;
    expect((await run(attack, {}, { sandbox })).stdout).toBe("");
    expect(readdirSync(secret)).toEqual(["file"]);
    expect(readFileSync(join(secret, "file"), "utf8")).toBe("kept");
    expect(await run("echo fine > hide/deep/other; cat hide/deep/other", {}, { sandbox })).toMatchObject({
      stdout: "fine\n",
    });
    await expect(run("pwd", { cwd: secret }, { sandbox })).rejects.toMatchObject({ code: "invalid_arguments" });
  });
});

/** The descriptors that this process holds open. */
function openPaths(): string[] {
  return readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)];
    } catch {
      return [];
    }
  });
}
