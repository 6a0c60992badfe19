import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sandboxProblem } from "./bashOptions.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const examples = [...readme.matchAll(/^```ts title=(\S+)\n([\s\S]*?)^```$/gm)].map(([, name = "", code = ""]) => ({
  name,
  code,
}));
const sources = new URL("../../mcp/fixtures/sources.mjs", import.meta.url).href;
const withoutSandbox = await sandboxProblem({ cwd: tmpdir() });

/** What each example prints. */
const expected: Readonly<Record<string, RegExp>> = {
  "start.ts": /^\{"stdout":"v\d[^"]*\\n","stderr":"","exit_code":0\}\n$/,
  "shell.ts": /^\{"stdout":"two\\n","stderr":"","exit_code":0\}\n$/,
  "limit.ts":
    /^Error executing run_bash: Invalid arguments: timeout: must be a positive number of milliseconds up to 600000, got 3600000\n$/,
  "progress.ts": /^(?:\[ 'compiling' \]\n)*\[ 'compiling', 'linking' \]\n$/,
  "spill.ts":
    /^\[truncated: shown \d+ of 588895 bytes; all of it is in \/\S+\/spilled\/run_bash-[\w-]+-stdout\.txt\]\n$/,
  "background.ts":
    /^\{"running":true,"exit_code":null,"stdout":"listening\\n","stderr":""\}\n\[ \[ 'echo listening; sleep 600', true \] \]\n\{"running":false,"exit_code":137,"stdout":"","stderr":""\}\n$/,
  "guard.ts":
    /^\[\{"kind":"execute","command":"git push","shell":"sh","cwd":"\/","env":\{"GIT_DIR":"other"\}\}\]\nError executing run_bash: Permission denied: this agent only looks\n$/,
  "deny.ts":
    /^\{"stdout":"","stderr":"cat: app\/\.env: Permission denied\\n\[sandbox: commands cannot open denied paths, [^"]*\]","exit_code":1\}\n$/,
};
/** Those that need bubblewrap. */
const sandboxed: readonly string[] = ["deny.ts"];

let folder: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "toolcrib-readme-")));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
});

afterAll(() => rmSync(folder, { recursive: true }));

test("the README has an example for each thing it must show", () => {
  expect(examples.map(({ name }) => name)).toEqual(Object.keys(expected));
});

for (const { name, code } of examples) {
  test.skipIf(withoutSandbox && sandboxed.includes(name))(`the README's ${name} runs as it stands`, async () => {
    writeFileSync(join(folder, name), code);
    const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
      execFile(process.execPath, ["--import", sources, name], { cwd: folder }, (_, out, err) =>
        resolve({ stdout: out, stderr: err }),
      );
    });
    expect(stderr).toBe("");
    expect(stdout).toMatch(expected[name] ?? /never/);
  });
}
