import { spawnSync } from "node:child_process";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { createRunBashTool } from "../runBash.ts";

const source = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);

/** Runs a script as a program of its own; it has `execute(command, options)`, which answers the output or the error's text. */
function program(script: string, flags: readonly string[] = [], shell = "exec"): string {
  const whole = `
    const { createRunBashTool } = await import(${source("../runBash.ts")});
    const execute = (command, options) => createRunBashTool(options).execute({ command }).then(String).catch((error) => error.code + ": " + error.message);
    ${script}`;
  const words = [process.execPath, ...flags, "--input-type=module-typescript", "-e", whole];
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", `${shell} "$@"`, "sh", ...words], {
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout;
}

describe("a command that cannot be started is an error that says what to do, and the program goes on", () => {
  test("without permission to start programs", () => {
    const flags = ["--permission", "--allow-fs-read=*", "--no-warnings"];
    expect(program('console.log(await execute("true")); console.log("alive");', flags)).toBe(
      "execution_failed: The command was not started: Node's permission model forbids it; start the program with --allow-child-process\nalive\n",
    );
    expect(program('console.log(await execute("true", { sandbox: true })); console.log("alive");', flags)).toMatch(
      /^execution_failed: The sandbox .* not available: .*\nalive\n$/,
    );
  });

  test.runIf(process.platform === "linux")("without descriptors left, and later ones start", () => {
    const script = `
      const { openSync, closeSync } = await import("node:fs");
      await execute("true");
      for (const sandbox of [false, true]) {
        const open = [];
        try { for (;;) open.push(openSync("/dev/null")); } catch {}
        // Room for a sandbox's directories, none for pipes.
        for (const descriptor of open.splice(0, 2)) closeSync(descriptor);
        console.log(await execute("true", { sandbox }));
        for (const descriptor of open) closeSync(descriptor);
        console.log(await execute("echo fine"));
      }`;
    const [plain, fine, sandboxed, again] = program(script, [], "ulimit -n 400; exec").split("\n");
    expect(plain).toMatch(/^execution_failed: .*EMFILE/);
    expect(sandboxed).toMatch(/^execution_failed: The sandbox .* not available: .*/);
    expect([fine, again]).toEqual(Array(2).fill('{"stdout":"fine\\n","stderr":"","exit_code":0}'));
  });

  test.each([
    ["E2BIG", "invalid_arguments", /longer than the system accepts \(E2BIG\); put the data into a file/],
    ["EAGAIN", "execution_failed", /no more processes \(EAGAIN\); end some and try again/],
    ["ENOMEM", "execution_failed", /no memory for another process \(ENOMEM\)/],
    ["NotCapable", "execution_failed", /Deno's permissions forbid it; start the program with --allow-run/],
  ])("%s, thrown at once or later, also by another realm", async (code, kind, message) => {
    const foreign = runInNewContext("Object.assign(new Error('spawn'), { code, name: code })", { code }) as Error;
    for (const error of [Object.assign(new Error("spawn"), { code, name: code }), foreign]) {
      for (const runner of [
        () => Promise.reject(error),
        () => {
          throw error;
        },
      ]) {
        const running = createRunBashTool({ runner }).execute({ command: "true" });
        await expect(running).rejects.toMatchObject({ code: kind, message: expect.stringMatching(message) as string });
      }
    }
  });
});
