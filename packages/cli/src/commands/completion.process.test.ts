import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hasTerminals, startOnTerminal, type TerminalProgram, temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { bin } from "../../fixtures/command.ts";

let base = "";
let folder = "";

beforeEach(() => {
  base = temporaryFolder("completion");
  folder = join(base, "work");
  mkdirSync(folder);
  mkdirSync(join(base, "bin"));
  const file = join(base, "bin", "toolcrib");
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`);
  chmodSync(file, 0o755);
});

const environment = (): Record<string, string> => ({
  HOME: base,
  XDG_CONFIG_HOME: join(base, "config"),
  XDG_STATE_HOME: join(base, "state"),
  XDG_DATA_HOME: join(base, "data"),
  PATH: `${join(base, "bin")}:${process.env.PATH}`,
});

const has = (shell: string): boolean => spawnSync(shell, ["--version"]).status === 0;

/** A shell on a terminal, with completion switched on as the script says. */
function startShell(shell: string, args: readonly string[], setUp: string): TerminalProgram {
  const starter = join(base, "start.mjs");
  writeFileSync(
    starter,
    `import { spawnSync } from "node:child_process"; spawnSync(${JSON.stringify(shell)}, ${JSON.stringify(args)}, { stdio: "inherit" });`,
  );
  const terminal = startOnTerminal(starter, [], { cwd: folder, env: { ...environment(), PS1: "ready> " } });
  terminal.type(`${setUp}\r`);
  return terminal;
}

describe.runIf(hasTerminals())("in a real shell", () => {
  test.each([
    ["bash", ["--norc", "--noprofile", "-i"], `eval "$(toolcrib completion bash)"; echo 'switched'' on'`],
    ["zsh", ["-f", "-i"], `autoload -U compinit; compinit -u; eval "$(toolcrib completion zsh)"; echo 'switched'' on'`],
  ])("%s completes a command, a flag, a value behind = and a file", async (shell, args, setUp) => {
    if (!has(shell)) return;
    writeFileSync(join(folder, "prompt-of-mine.txt"), "");
    const terminal = startShell(shell, args, setUp);
    await terminal.shows("switched on");
    await terminal.enter("toolcrib permi\t", "toolcrib permissions");
    await terminal.enter("expl\t", "permissions explain");
    await terminal.enter("write_f\t", "explain write_file");
    await terminal.enter("--mode=read\t", "--mode=read-only");
    await terminal.enter("\u0015toolcrib run prompt-o\t", "run prompt-of-mine.txt");
    terminal.kill();
    await terminal.ended;
  });

  test("bash runs nothing of what a name says", async () => {
    const name = "$(touch hacked)";
    writeFileSync(
      join(folder, ".mcp.json"),
      JSON.stringify({ mcpServers: { [name]: { command: "true" }, time: { command: "true" } } }),
    );
    const terminal = startShell(
      "bash",
      ["--norc", "--noprofile", "-i"],
      `eval "$(toolcrib completion bash)"; echo 'switched'' on'`,
    );
    await terminal.shows("switched on");
    await terminal.enter("toolcrib mcp test ti\t", "test time");
    expect(existsSync(join(folder, "hacked"))).toBe(false);
    terminal.kill();
    await terminal.ended;
  });
});

test.runIf(has("fish"))("fish completes commands, flags, values and files", () => {
  writeFileSync(join(folder, "prompt-of-mine.txt"), "");
  const complete = (line: string): string => {
    const script = `toolcrib completion fish | source; complete -C ${JSON.stringify(line)}`;
    return spawnSync("fish", ["--no-config", "-c", script], { cwd: folder, env: environment(), encoding: "utf8" })
      .stdout;
  };
  expect(complete("toolcrib permi")).toBe("permissions\twhat may run here, and the remembered answers\n");
  expect(complete("toolcrib permissions explain write_f")).toMatch(/^write_file\b/);
  expect(complete("toolcrib chat --mode=read")).toMatch(/^--mode=read-only\b/);
  expect(complete("toolcrib run prompt-o")).toMatch(/^prompt-of-mine\.txt/);
});
