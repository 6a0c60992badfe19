import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { ToolEffect } from "@toolcrib/core";
import { expect, test } from "vitest";
import { sharedFolder } from "../fixtures/commands.ts";
import { createBashTools } from "./bash.ts";
import type { BashToolOptions, RunBashOptions } from "./bashOptions.ts";
import { runShell } from "./process/runShell.ts";
import { createRunBashTool } from "./runBash.ts";

const folder = sharedFolder("effects");
mkdirSync(join(folder, "sub"));
symlinkSync("sub", join(folder, "link"));

async function effectsOf(args: Record<string, unknown>, options: RunBashOptions = {}): Promise<readonly ToolEffect[]> {
  return (await createRunBashTool({ cwd: folder, ...options }).effects?.(args)) ?? expect.fail("no effects");
}

test("a call is its command line unparsed, its shell, its directory and the variables that it sets", async () => {
  const command = " echo 'a\n b' && rm -rf $X ";
  expect(await effectsOf({ command })).toEqual([{ kind: "execute", command, shell: "sh", cwd: folder }]);
  const env = { X: "/", LD_PRELOAD: "evil.so" };
  expect(await effectsOf({ command, cwd: "sub", env }, { shell: "bash" })).toEqual([
    { kind: "execute", command, shell: "bash", cwd: join(folder, "sub"), env },
  ]);
  expect(await effectsOf({ command: "true", env: {}, cwd: null }, { shell: "/bin/sh" })).toEqual([
    { kind: "execute", command: "true", shell: "/bin/sh", cwd: folder },
  ]);
});

test("the directory is the one that the command runs in, links followed", async () => {
  for (const cwd of [undefined, "link", "link/../sub", "/", join(folder, "link")]) {
    const args = { command: "pwd -P", cwd };
    const ran = JSON.parse(await createRunBashTool({ cwd: folder }).execute(args)) as { stdout: string };
    expect((await effectsOf(args)).map((effect) => `${effect.cwd}\n`)).toEqual([ran.stdout]);
  }
});

test.each([
  [{}],
  [{ command: "true\0" }],
  [{ command: "true", cwd: "missing" }],
  [{ command: "true", cwd: "" }],
  [{ command: "true", env: { "A=B": "x" } }],
  [{ command: "true", timeout: 0 }],
])("%j is refused as the call itself is", async (args) => {
  const tool = createRunBashTool({ cwd: folder });
  const message = async (run: unknown): Promise<string> =>
    Promise.resolve(run).then(
      () => expect.fail("was not refused"),
      (error: Error) => error.message,
    );
  expect(await message(tool.effects?.(args))).toBe(await message(tool.execute(args)));
});

test("each way to confine a command has a text of its own, and the same way has the same", async () => {
  const ways: BashToolOptions[] = [
    {},
    { scrubEnv: true },
    { scrubEnv: { keep: ["TOKEN"] } },
    { sandbox: true },
    { sandbox: true, scrubEnv: true },
    { sandbox: { network: true } },
    { sandbox: { unixSockets: true } },
    { sandbox: { writable: join(folder, "sub") } },
    { sandbox: { hidden: [join(folder, "sub")] } },
    { sandbox: { unprotected: [".git/config"] } },
    { sandbox: { limits: { processes: 10 } } },
    { sandbox: { limits: { memoryBytes: Number.POSITIVE_INFINITY } } },
    { sandbox: true, deny: ["sub/"] },
    { runner: (command) => runShell(command) },
  ];
  const textsOf = (): Promise<(string | undefined)[]> =>
    Promise.all(
      ways.flatMap((way) =>
        [false, true].map(async (background) => {
          const [tool] = createBashTools({ cwd: folder, background: true, ...way });
          const [effect] = (await tool?.effects?.({ command: "touch made", background })) ?? [];
          return effect?.confinement;
        }),
      ),
    );
  const texts = await textsOf();
  expect(new Set(texts).size).toBe(2 * ways.length);
  expect(texts.slice(0, 4)).toEqual([undefined, "background", "scrubEnv", "background; scrubEnv"]);
  expect(await textsOf()).toEqual(texts);
  expect((await effectsOf({ command: "true" }, { sandbox: { network: true } }))[0]?.confinement).toMatch(
    /^sandbox; network; writable \[/,
  );
  expect(await effectsOf({ command: "true" }, { sandbox: false, scrubEnv: false, runner: runShell })).toEqual(
    await effectsOf({ command: "true" }),
  );
});
