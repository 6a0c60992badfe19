import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createRunBashTool } from "./runBash.ts";

interface Answer {
  stdout: string;
  stderr: string;
  exit_code: number;
}

let folder: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "toolcrib-questions-")));
  const author = "git config user.name T; git config user.email t@example.org; git config core.editor 'sleep 60; :'";
  const { exit_code } = await run(
    `git init -q . && { ${author}; } && echo 1 > a && git add a && git commit -qm 1 && echo 2 > a && git commit -qam 2`,
  );
  expect(exit_code).toBe(0);
});
afterAll(() => rm(folder, { recursive: true }));

beforeEach(() => {
  // What a user's own environment may say.
  for (const name of ["GIT_EDITOR", "EDITOR", "VISUAL", "GIT_SEQUENCE_EDITOR"]) vi.stubEnv(name, "sleep 60; :");
  for (const name of ["PAGER", "GIT_PAGER"]) vi.stubEnv(name, "sleep 60; cat");
  for (const name of ["GIT_ASKPASS", "SSH_ASKPASS"]) vi.stubEnv(name, "/bin/cat");
  vi.stubEnv("GIT_TERMINAL_PROMPT", "1");
  return () => vi.unstubAllEnvs();
});

async function run(command: string, env: Record<string, string> = {}): Promise<Answer> {
  const tool = createRunBashTool({ cwd: folder, timeoutMs: 20_000 });
  return JSON.parse(await tool.execute({ command, env })) as Answer;
}

const withExpressions = await createRunBashTool().execute({
  command: "vim -es -c 'if has(\"eval\") | cquit | endif' -c q",
});
const hasVim = (JSON.parse(withExpressions) as Answer).exit_code === 1;
const advice = /no editor here.*git commit -m.*--no-edit/;

describe("nothing waits for a person", () => {
  test.each([
    "git commit --allow-empty",
    "git commit --amend",
    "git rebase -i HEAD~1",
    "git tag -a v1",
    '"$EDITOR" a || eval "$VISUAL a"',
  ])("%s fails at once and says what to do", async (command) => {
    const { exit_code, stderr } = await run(`before=$(git rev-parse HEAD); ${command}; code=$?
      test "$before" = "$(git rev-parse HEAD)" && test ! -d .git/rebase-merge && exit $code; exit 99`);
    expect([exit_code, stderr]).toEqual([exit_code, expect.stringMatching(advice)]);
    expect([1, 128]).toContain(exit_code);
  });

  test.runIf(hasVim)("vim, too, behind its own commands and its user's configuration", async () => {
    const home = join(folder, "home");
    await mkdir(home);
    await writeFile(join(home, ".vimrc"), "let g:mine = 'kept'\n");
    const env = { HOME: home, LC_ALL: "C" };
    const opened = await run("vim a", env);
    expect([opened.exit_code, opened.stderr]).toEqual([1, expect.stringContaining("no terminal for an editor here")]);
    const edit = "vim -c 'call writefile([g:mine], \"b\")' -c wq a";
    expect((await run(`${edit} && cat b && printf ':q\n' | vim a`, env)).exit_code).toBe(0);
    expect((await run("cat b; rm b; vim -es -c q a")).stdout).toBe("kept\n");
  });

  test("an option or a variable of the command or the call does what the editor would", async () => {
    expect((await run("git commit --amend --no-edit")).exit_code).toBe(0);
    expect((await run("GIT_EDITOR=true git commit --amend")).exit_code).toBe(0);
    expect((await run("git commit --amend", { GIT_EDITOR: "true" })).exit_code).toBe(0);
    expect((await run("git rebase -i HEAD~1", { GIT_SEQUENCE_EDITOR: "true" })).exit_code).toBe(0);
  });

  test("a pager prints, and git asks for no password", async () => {
    expect((await run('eval "$PAGER a"; git --paginate log --format=%s')).stdout).toBe("2\n2\n1\n");
    const ask = "printf 'protocol=https\\nhost=example.invalid\\n' | git -c credential.helper= credential fill";
    const { exit_code, stderr } = await run(ask);
    expect(exit_code).toBe(128);
    expect(stderr).toContain("terminal prompts disabled");
  });
});
