import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Answer, run as runIn, sharedFolder } from "../fixtures/commands.ts";

const folder = sharedFolder("vim");
const run = (command: string, env = {}): Promise<Answer> => runIn(command, { env }, { cwd: folder });
const hasVim = (await run("vim -es -c 'if has(\"eval\") | cquit | endif' -c q")).exit_code === 1;

test.runIf(hasVim)("vim fails at once, behind its own commands and its user's configuration", async () => {
  const home = join(folder, "home");
  mkdirSync(home);
  writeFileSync(join(home, ".vimrc"), "let g:mine = 'kept'\n");
  writeFileSync(join(folder, "a"), "");
  const env = { HOME: home, LC_ALL: "C" };
  const opened = await run("vim a", env);
  expect([opened.exit_code, opened.stderr]).toEqual([1, expect.stringContaining("no terminal for an editor here")]);
  const edit = "vim -c 'call writefile([g:mine], \"b\")' -c wq a";
  expect((await run(`${edit} && cat b && printf ':q\n' | vim a`, env)).exit_code).toBe(0);
  expect((await run("cat b; rm b; vim -es -c q a")).stdout).toBe("kept\n");
});
