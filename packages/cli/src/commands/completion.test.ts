import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hasTerminals, sharedCommand, startOnTerminal, type TerminalProgram, temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";

const bin = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));
const command = sharedCommand(bin);
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

async function words(...typed: readonly string[]): Promise<string[]> {
  const args = ["completion", "words", "zsh", "--", ...typed];
  const { stdout, stderr } = await command(args, { cwd: folder, env: environment() });
  expect(stderr).toBe("");
  return stdout.split("\n").map((line) => line.split("\t")[0] ?? "");
}

describe("what the word that is typed may be", () => {
  test("a command, and its commands", async () => {
    expect(await words("perm")).toEqual(["permissions", ""]);
    expect(await words("conta")).toEqual([""]);
    expect(await words("tools", "")).toEqual(["list", "call", "cost", "help", ""]);
  });

  test("a flag, with what it is for, and the values of one that has choices", async () => {
    expect(await words("run", "--mo")).toEqual(["--model", "--mode", ""]);
    expect(await words("chat", "--mode", "re")).toEqual(["read-only", ""]);
    expect(await words("chat", "--mode=re")).toEqual(["--mode=read-only", ""]);
    expect(await words("run", "-m", "op")).toEqual(["openai/", "openrouter/", "openai-compatible/", ""]);
  });

  test("the names of tools, one after the other", async () => {
    expect(await words("tools", "call", "read")).toEqual(["read_file", ""]);
    expect(await words("run", "--enable", "remove,run")).toEqual(["remove,run_bash", ""]);
    expect(await words("permissions", "explain", "write")).toEqual(["write_file", ""]);
  });

  test("a conversation of this directory", async () => {
    await command(["run", "list .", "-m", "offline"], { cwd: folder, env: environment() });
    const [id] = await words("sessions", "show", "");
    expect(id).toMatch(/^\d{4}-/);
    expect(await words("run", "-r", id ?? "")).toEqual([id, ""]);
  });

  test("an MCP server of this directory or of the user, none that could be anything else to a shell", async () => {
    const mcpServers = Object.fromEntries(
      ["time", "$(touch hacked)", "a b", "x\nrm", "-rf"].map((name) => [name, { command: "true" }]),
    );
    writeFileSync(join(folder, ".mcp.json"), JSON.stringify({ mcpServers }));
    expect(await words("mcp", "test", "t")).toEqual(["time", ""]);
    const all = await words("mcp", "allow", "");
    expect(all.filter((one) => /[$ \n(]/.test(one))).toEqual([]);
    writeFileSync(join(folder, ".mcp.json"), "not json");
    expect(await words("mcp", "test", "")).toEqual([""]);
  });

  test("a key of the configuration; nothing where a file is meant, and nothing of what is not there", async () => {
    expect(await words("config", "set", "max")).toContain("maxSteps");
    expect(await words("run", "do", "x")).toEqual([""]);
    expect(await words("nothing", "")).toEqual([""]);
    expect(await words("run", "--resu", "x", "--nothing", "")).toEqual([""]);
  });

  test("asks nobody about a project that is not trusted, and starts nothing", async () => {
    writeFileSync(join(folder, ".toolcrib.json"), `{ "mode": "full" }`);
    expect(await words("run", "--mod")).toEqual(["--model", "--mode", ""]);
  });
});

test("another shell is refused by name", async () => {
  const { stderr, code } = await command(["completion", "tcsh"], { cwd: folder });
  expect({ stderr, code }).toEqual({ code: 2, stderr: "toolcrib: completion tcsh: expected bash, zsh, fish\n" });
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
    terminal.type("toolcrib permi\t");
    await terminal.shows("toolcrib permissions");
    terminal.type("expl\t");
    await terminal.shows("permissions explain");
    terminal.type("write_f\t");
    await terminal.shows("explain write_file");
    terminal.type("--mode=read\t");
    await terminal.shows("--mode=read-only");
    terminal.type("\u0015toolcrib run prompt-o\t");
    await terminal.shows("run prompt-of-mine.txt");
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
    terminal.type("toolcrib mcp test ti\t");
    await terminal.shows("test time");
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
