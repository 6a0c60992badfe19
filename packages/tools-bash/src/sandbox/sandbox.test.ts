import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram } from "@toolcrib/kit/files";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunBashOptions, sandboxProblem } from "../bashOptions.ts";
import { createRunBashTool } from "../runBash.ts";

const bwrap = findProgram("bwrap");
const needed = "--unshare-all --unshare-user --disable-userns --ro-bind / / --proc /proc --remount-ro /proc true";
const probe = bwrap && spawnSync(bwrap, needed.split(" "));
const works = probe ? probe.status === 0 : false;
const whyNot = bwrap ? "bubblewrap cannot make its namespaces here" : "bubblewrap is not installed";

let inside: string;
let outside: string;

// Not below /tmp, which is private in the sandbox; the home or the clone may be.
const placeOutside = [homedir(), import.meta.dirname].find((path) => !`${path}/`.startsWith("/tmp/")) ?? "/var/tmp";

beforeAll(async () => {
  inside = await realpath(await mkdtemp(join(tmpdir(), "toolcrib-sandbox-")));
  outside = await realpath(await mkdtemp(join(placeOutside, ".toolcrib-outside-")));
  await mkdir(join(inside, "sub"));
  await writeFile(join(outside, "file"), "kept");
});

afterAll(() => Promise.all([inside, outside].map((path) => rm(path, { recursive: true }))));

interface Answer {
  stdout: string;
  stderr: string;
  exit_code: number;
}

async function run(command: string, args: Record<string, unknown> = {}, options: RunBashOptions = {}): Promise<Answer> {
  const tool = createRunBashTool({ root: inside, sandbox: true, ...options });
  return JSON.parse(await tool.execute({ command, ...args })) as Answer;
}

describe(`sandbox${works ? "" : ` (skipped: ${whyNot})`}`, () => {
  const sandboxed = test.runIf(works);

  sandboxed("writes go to the roots only", async () => {
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

  sandboxed("what is mounted read-only cannot be mounted again to be written", async () => {
    for (const command of [
      `mount -o remount,rw,bind /; echo bad > ${outside}/file`,
      `unshare -Urm sh -c 'mount -o remount,rw,bind /; echo bad > ${outside}/file'`,
      `unshare -Urm sh -c 'umount -l /tmp; echo bad > ${outside}/file'`,
    ]) {
      await run(command);
      expect(readFileSync(join(outside, "file"), "utf8")).toBe("kept");
    }
  });

  sandboxed("a link inside the roots does not lead a write out of them", async () => {
    expect((await run(`ln -s ${outside} out && echo bad > out/file`)).exit_code).not.toBe(0);
    expect(readFileSync(join(outside, "file"), "utf8")).toBe("kept");
  });

  sandboxed("other processes are out of reach", async () => {
    expect((await run(`kill -0 ${process.pid}`)).exit_code).not.toBe(0);
  });

  sandboxed("there is no network, loopback included, unless it is allowed", async () => {
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

  sandboxed("no argument or variable of a call switches it off", async () => {
    const env = { PATH: `${inside}:${process.env.PATH}`, BWRAP: "off" };
    const answer = await run(`echo bad > ${outside}/file`, { env, cwd: outside, timeout: 5000 });
    expect(answer.exit_code).not.toBe(0);
    expect(readFileSync(join(outside, "file"), "utf8")).toBe("kept");
  });

  test("variables of a call reach the command, not the program that makes the sandbox", async () => {
    const fake = join(outside, "spy");
    await mkdir(fake);
    await writeFile(join(fake, "bwrap"), `#!/bin/sh\nenv > '${inside}/spied'\nprintf '%s ' "$@"\n`, { mode: 0o755 });
    const path = process.env.PATH;
    process.env.PATH = `${fake}:${path}`;
    try {
      const { stdout } = await run("true", { env: { LD_PRELOAD: "evil.so" } });
      expect(stdout).toMatch(/^--setenv LD_PRELOAD evil.so .* -- .* \/bin\/sh -c true $/s);
    } finally {
      process.env.PATH = path;
    }
    expect(readFileSync(join(inside, "spied"), "utf8")).not.toContain("LD_PRELOAD");
  });

  sandboxed("exit codes, signals, the limit and the environment are as without it", async () => {
    expect((await run("exit 3")).exit_code).toBe(3);
    expect((await run("kill -KILL $$")).exit_code).toBe(137);
    expect((await run("echo $AI_AGENT $MINE; pwd", { cwd: "sub", env: { MINE: "a b" } })).stdout).toBe(
      `toolcrib a b\n${inside}/sub\n`,
    );
    expect(await run("echo early; setsid sleep 3010 & sleep 3011", { timeout: 3000 })).toEqual({
      stdout: "early\n",
      stderr: "[timed out after 3000 ms]",
      exit_code: -1,
    });
    await expect
      .poll(() => execFileSync("ps", ["-eo", "stat,args"], { encoding: "utf8" }))
      .not.toMatch(/^[^Z].* sleep 301[01]$/m);
  });

  sandboxed("nothing outlives the command", async () => {
    expect(await run("setsid sleep 3012 & echo started")).toEqual({ stdout: "started\n", stderr: "", exit_code: 0 });
    await expect
      .poll(() => /^[^Z].* sleep 3012$/m.test(execFileSync("ps", ["-eo", "stat,args"], { encoding: "utf8" })))
      .toBe(false);
  });

  sandboxed("a working directory that it hides is an invalid argument", async () => {
    await expect(run("pwd", { cwd: "/run" })).rejects.toMatchObject({ code: "invalid_arguments" });
  });

  sandboxed("stderr of a failed command ends with what the sandbox may have refused", async () => {
    const sandbox = { remedies: { write: "--root DIR adds a directory" } };
    const failed = await run(`touch ${outside}/new`, {}, { sandbox });
    expect(failed.stderr).toMatch(
      /Read-only file system\n\[sandbox: commands can write only in [^;]*; --root DIR adds a directory\]$/,
    );
    expect((await run(`touch ${outside}/new; true`)).stderr).not.toContain("[sandbox");
    const limit = await run("echo EROFS; sleep 600", { timeout: 3000 });
    expect(limit.stderr).toMatch(/^\[sandbox: [^\n]*\]\n\[timed out after 3000 ms\]$/);
    expect((await run("echo EROFS; exit 1", {}, { sandbox: false })).stderr).toBe("");
  });

  sandboxed("sandboxProblem reports a problem, or undefined if there is none", async () => {
    expect(await sandboxProblem({ root: inside })).toBeUndefined();
  });

  sandboxed("writable overrides the roots", async () => {
    const sandbox = { writable: join(inside, "sub") };
    expect((await run("touch sub/ok && touch no", {}, { sandbox })).exit_code).not.toBe(0);
    expect(existsSync(join(inside, "sub/ok"))).toBe(true);
    expect(existsSync(join(inside, "no"))).toBe(false);
  });

  sandboxed("what is readable is shown in /tmp, too, for reading alone and without what is denied", async () => {
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

  sandboxed(
    "what is readable and became a loop of links, or lies below what may not be entered, is not shown",
    async () => {
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
    },
  );

  sandboxed("a hidden directory of a root cannot be read, changed, moved or made anew", async () => {
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

  sandboxed("nothing is run where a hidden directory is missing, or reached through a link", async () => {
    await mkdir(join(inside, "aim", "secret"), { recursive: true });
    await symlink(join(inside, "aim"), join(inside, "link"));
    for (const name of ["missing", "link/secret", "link"]) {
      const sandbox = { hidden: [join(inside, name)] };
      await expect(run("touch ran", {}, { sandbox })).rejects.toMatchObject({ code: "execution_failed" });
    }
    expect(existsSync(join(inside, "ran"))).toBe(false);
    expect(() => createRunBashTool({ sandbox: { hidden: ["relative"] } })).toThrow(TypeError);
  });

  test("that is not available is an error, and nothing is run", async () => {
    const path = process.env.PATH;
    process.env.PATH = "";
    try {
      await expect(run(`touch ${inside}/ran`)).rejects.toMatchObject({
        code: "execution_failed",
        recoverable: false,
        message: expect.stringContaining("sandbox") as string,
      });
      expect(await sandboxProblem()).toContain("bwrap (bubblewrap, Linux only) is not on PATH");
      const sandbox = { remedies: { unavailable: "pass --no-sandbox" } };
      await expect(run("true", {}, { sandbox })).rejects.toThrow(/Nothing was run; pass --no-sandbox$/);
    } finally {
      process.env.PATH = path;
    }
    expect(existsSync(join(inside, "ran"))).toBe(false);
  });

  test("that bubblewrap cannot make is an error that quotes it, and nothing is run", async () => {
    const fake = join(outside, "bin");
    await mkdir(fake);
    await writeFile(join(fake, "bwrap"), "#!/bin/sh\necho 'bwrap: no permissions' >&2; exit 1\n", { mode: 0o755 });
    const path = process.env.PATH;
    process.env.PATH = `${fake}:${path}`;
    try {
      await expect(run(`touch ${inside}/ran`)).rejects.toMatchObject({
        message: expect.stringContaining("bwrap: no permissions") as string,
      });
    } finally {
      process.env.PATH = path;
    }
    expect(existsSync(join(inside, "ran"))).toBe(false);
  });
});
