import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { compileCache, sharedFolder } from "@toolcrib/testing";
import { beforeAll, describe, expect, test } from "vitest";
import { countStart } from "../../../testing/src/startProgram.ts";
import { bin, command } from "../fixtures/command.ts";

const folder = sharedFolder("output");

beforeAll(() => {
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src", "a.ts"), "const one = 1;\n");
  writeFileSync(join(folder, "big.txt"), "0123456789abcde\n".repeat(15_000));
});

interface Written {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the command with one stream replaced: by a file, or by a pipe whose reader closes it at once. */
async function toolcrib(args: readonly string[], replaced: { stdout?: string; stderr?: string }): Promise<Written> {
  const fds: number[] = [];
  const stream = (path: string | undefined): "pipe" | number => {
    if (path === undefined || path === "closed") return "pipe";
    fds.push(openSync(path, "w"));
    return fds.at(-1) as number;
  };
  countStart(bin, args);
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...compileCache, XDG_STATE_HOME: join(folder, "state") },
    stdio: ["ignore", stream(replaced.stdout), stream(replaced.stderr)],
  });
  for (const fd of fds) closeSync(fd);
  for (const name of ["stdout", "stderr"] as const) if (replaced[name] === "closed") child[name]?.destroy();
  const read = (name: "stdout" | "stderr"): Promise<string> | string => {
    const pipe = child[name];
    return pipe && replaced[name] === undefined ? text(pipe) : "";
  };
  const code = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [stdout, stderr] = await Promise.all([read("stdout"), read("stderr")]);
  return { stdout, stderr, code: await code };
}

const commands: readonly (readonly string[])[] = [
  ["run", "list src", "-m", "offline", "--output-format", "json"],
  ["tools", "call", "read_file", "--path", "big.txt"],
];

describe.skipIf(process.platform !== "linux")("output that cannot be written", () => {
  test.each(commands)("on a full disk is one line and exit 1: %s %s", async (...args) => {
    const { code, stderr } = await toolcrib(args, { stdout: "/dev/full" });
    expect(stderr).toMatch(/(?:^|\n)toolcrib: cannot write to standard output: the disk is full\n$/);
    expect(stderr).not.toMatch(/^\s+at |node:/m);
    expect(code).toBe(1);
  });

  test.each(commands)("to a closed pipe ends the command quietly, as SIGPIPE would: %s %s", async (...args) => {
    const { code, stderr } = await toolcrib(args, { stdout: "closed" });
    expect(stderr).not.toMatch(/toolcrib: |^\s+at |node:/m);
    expect(code).toBe(141);
  });

  test("on stderr does not change the answer", async () => {
    expect(await toolcrib(["run", "list src", "-m", "offline"], { stderr: "closed" })).toEqual({
      code: 0,
      stdout: expect.stringContaining("a.ts"),
      stderr: "",
    });
  });

  test("on both streams ends the program", async () => {
    expect(
      (await toolcrib(["run", "list src", "-m", "offline"], { stdout: "/dev/full", stderr: "/dev/full" })).code,
    ).toBe(1);
  });
});

test.each([
  ["the name of a folder", ["demo"]],
  ["an error", ["run", "hi", "-m", "a\u009b2K\u202e\u2028b\u007f"]],
  ["an unknown command", ["a\u009b2K\u202e\u2028b\u007f"]],
])("%s reaches stderr without control characters", async (_what, args) => {
  const cwd = join(folder, "a\u001b]0;owned\u0007\u009b2K\u202e\u2028b\u007f");
  mkdirSync(cwd, { recursive: true });
  const { stderr } = await command(args, { cwd, env: { TMPDIR: folder, TOOLCRIB_DEBUG: "1" } });
  expect(stderr).toMatch(/a(?:\]0;owned)?2Kb/);
  expect(stderr).not.toMatch(/(?!\n)[\p{Cc}\u2028\u202e]/u);
});
