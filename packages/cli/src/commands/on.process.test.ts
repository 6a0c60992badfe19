import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { hasSshServer, startSshServer, temporaryFolder, writeIn } from "@toolcrib/testing";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { command } from "../../fixtures/command.ts";

/** The folder the command runs in, and that of the remote. */
let here = "";
let there = "";
let env: Record<string, string> = {};
beforeEach(() => {
  const base = temporaryFolder("on");
  [here, there] = [join(base, "here"), join(base, "there")];
  mkdirSync(here);
  writeIn(there, "src/a.ts", "// TODO: there\n");
  // A container that is a root of bubblewrap's, in which nothing but the folder can be changed.
  const root = `--ro-bind / / --dev /dev --proc /proc --bind ${there} ${there} --unshare-pid --die-with-parent`;
  writeIn(join(base, "bin"), "docker", `#!/bin/sh\nshift 3\nexec /usr/bin/bwrap ${root} -- "$@"\n`);
  chmodSync(join(base, "bin/docker"), 0o755);
  env = {
    PATH: `${join(base, "bin")}:${dirname(process.execPath)}:/usr/bin:/bin`,
    XDG_STATE_HOME: join(base, "state"),
  };
});

test.runIf(existsSync("/usr/bin/bwrap"))("the tools of a container work there alone", async () => {
  const on = ["--on", `docker:web:${there}`];
  const args = JSON.stringify({ path: "b.txt", content: "new" });
  expect((await command(["tools", "call", "write_file", args, ...on], { cwd: here, env })).code).toBe(0);
  expect([readdirSync(here), readFileSync(join(there, "b.txt"), "utf8")]).toEqual([[], "new"]);
  const run = ["run", "find TODO in src", "-m", "offline", ...on];
  expect(await command(run, { cwd: here, env })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("src/a.ts"),
  });
});

test.runIf(hasSshServer)("the remote may be another machine, by ssh", async () => {
  const { args, end } = await startSshServer();
  onTestFinished(end);
  const target = `command:ssh ${args.join(" ")} 127.0.0.1`;
  writeFileSync(join(here, "note.md"), "find TODO in src\n");
  const flags = ["run", "@note.md", "-m", "offline", "--on", target, "--root", there];
  expect(await command(flags, { cwd: here, env })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("src/a.ts"),
  });
});
