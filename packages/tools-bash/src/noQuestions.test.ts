import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "@toolcrib/kit/files";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type Answer, run as runIn, sharedFolder } from "../fixtures/commands.ts";

const folder = join(sharedFolder("questions"), "repository");
const hasGit = findProgram("git") !== undefined;

beforeAll(async () => {
  mkdirSync(folder);
  if (!hasGit) return;
  const author = "git config user.name T; git config user.email t@example.org; git config core.editor 'sleep 60; :'";
  const { exit_code } = await run(
    `git init -q -b main . && { ${author}; } && echo 1 > a && git add a && git commit -qm 1 && echo 2 > a && git commit -qam 2`,
  );
  expect(exit_code).toBe(0);
});

beforeEach(() => {
  // What a user's own environment may say.
  for (const name of ["GIT_EDITOR", "EDITOR", "VISUAL", "GIT_SEQUENCE_EDITOR"]) vi.stubEnv(name, "sleep 60; :");
  for (const name of ["PAGER", "GIT_PAGER"]) vi.stubEnv(name, "sleep 60; cat");
  for (const name of ["GIT_ASKPASS", "SSH_ASKPASS"]) vi.stubEnv(name, "/bin/cat");
  vi.stubEnv("GIT_TERMINAL_PROMPT", "1");
  return () => vi.unstubAllEnvs();
});

const run = (command: string, env: Record<string, string> = {}): Promise<Answer> =>
  runIn(command, { env }, { cwd: folder, timeoutMs: 20_000 });

const noEditor = "There is no editor here: ";
const goOn = (verb: string): string => `${noEditor}GIT_EDITOR=true git ${verb} --continue keeps the message as it is`;
/** Begins something on a branch that conflicts with this one, and resolves the conflict. */
const conflict = (begin: string): string =>
  `git checkout -qb side HEAD~1; echo 3 > a; git commit -qam 3; ${begin} >&- 2>&-; echo 4 > a; git add a;`;

describe.runIf(hasGit)("nothing waits for a person", () => {
  test.each([
    ["git commit --allow-empty", `${noEditor}give the text by an option (git commit -m, --no-edit)`],
    ["git commit --amend", `${noEditor}give the text by an option (git commit -m, --no-edit)`],
    ["git rebase -i HEAD~1", `${noEditor}name a command that writes the list in GIT_SEQUENCE_EDITOR`],
    ["git tag -a v1", `${noEditor}give the text by an option (git tag -m)`],
    ["git notes add", `${noEditor}give the text by an option (git notes add -m)`],
    ["git checkout -qb side HEAD~1; git commit -q --allow-empty -m 3; git merge --edit main", goOn("merge")],
    [`${conflict("git rebase main")} git rebase --continue`, goOn("rebase")],
    [`${conflict("git merge main")} git merge --continue`, goOn("merge")],
    [`${conflict("git merge main")} git commit`, "git commit takes -m or --no-edit"],
    [`${conflict("git cherry-pick main")} git commit`, goOn("cherry-pick")],
    [`${conflict("git revert main")} git commit`, goOn("revert")],
    ['"$EDITOR" a || eval "$VISUAL a"', `${noEditor}give the text by an option of the program`],
  ])("%s fails at once and says what to do", async (command, advice) => {
    const { exit_code, stderr } = await run(`cp -r . ../copy-$$; cd ../copy-$$; ${command}; code=$?
      rm -rf ../copy-$$; exit $code`);
    expect(stderr).toContain(advice);
    expect(stderr.length).toBeLessThan(500);
    expect([1, 128]).toContain(exit_code);
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
