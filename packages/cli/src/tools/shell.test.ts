import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { command } from "../../fixtures/command.ts";

let folder: string;
beforeEach(() => {
  folder = temporaryFolder("shell");
});

async function toolcrib(args: readonly string[], env: Record<string, string> = {}) {
  const state = join(folder, ".state");
  const all = { PATH: "/usr/bin:/bin", HOME: state, XDG_STATE_HOME: state, ...env };
  return command(args, { cwd: folder, env: all });
}

/** Returns the output of a command. */
async function printed(command: string, args: readonly string[] = [], env: Record<string, string> = {}) {
  const words = ["tools", "call", "--no-sandbox", "--enable", "run_bash", ...args, "run_bash", "--command", command];
  const { stdout, stderr } = await toolcrib(words, env);
  return stdout === "" ? stderr : (JSON.parse(stdout).stdout as string);
}

const braces = "mkdir -p p/{a,b}; ls p";

test("commands run in bash where it is found, since models write for it, and in sh where that is asked for", async () => {
  expect(await printed(braces)).toBe("a\nb\n");
  expect(await printed(braces, ["--shell", "bash"])).toBe("a\nb\n");
  expect(await printed("echo {a,b}", ["--shell", "sh"])).toBe("{a,b}\n");
  expect(await printed("echo {a,b}", [], { TOOLCRIB_SHELL: "sh" })).toBe("{a,b}\n");
  expect(await printed("echo {a,b}", ["--shell", "/bin/bash"], { TOOLCRIB_SHELL: "sh" })).toBe("a b\n");
});

test("a bash that tools could write is not used", async () => {
  const programs = join(folder, "bin");
  mkdirSync(programs);
  copyFileSync("/bin/bash", join(programs, "bash"));
  expect(await printed("echo {a,b}", [], { PATH: programs })).toBe("{a,b}\n");
  expect(await printed("true", ["--shell", "bash"], { PATH: programs })).toContain("--shell bash: it is not on PATH");
  expect(await printed("true", ["--shell", join(programs, "bash")])).toContain(
    "tools could write it; name one outside of",
  );
});

test("permissions are judged by the shell that runs", async () => {
  const explain = async (...args: string[]): Promise<string> => {
    const words = ["permissions", "explain", "--enable", "run_bash", ...args, "run_bash", "--command", "cat <<< x"];
    return (await toolcrib(words)).stdout;
  };
  expect(await explain()).toMatch(/^Allowed/);
  expect(await explain("--shell", "sh")).toMatch(/^Asked: .*which sh and bash read differently/);
});

test.each([
  ["zsch", "expected sh, bash or the absolute path of a shell"],
  ["/bin/no-such-shell", "there is no such program"],
])("--shell %s is a usage error", async (shell, why) => {
  const end = await toolcrib(["tools", "call", "list_dir", "--shell", shell, "--path", "."]);
  expect(end).toMatchObject({ code: 2, stderr: expect.stringContaining(`--shell ${shell}: ${why}`) });
});
