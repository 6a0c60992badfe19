import { describe, expect, test } from "vitest";
import { homeFor } from "../../fixtures/command.ts";

const home = homeFor("completion");

async function words(...typed: readonly string[]): Promise<string[]> {
  const args = ["completion", "words", "zsh", "--", ...typed];
  const { stdout, stderr } = await home.toolcrib(args);
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
    await home.toolcrib(["run", "list .", "-m", "offline"]);
    const [id] = await words("sessions", "show", "");
    expect(id).toMatch(/^\d{4}-/);
    expect(await words("run", "-r", id ?? "")).toEqual([id, ""]);
  });

  test("an MCP server of this directory or of the user, none that could be anything else to a shell", async () => {
    const mcpServers = Object.fromEntries(
      ["time", "$(touch hacked)", "a b", "x\nrm", "-rf"].map((name) => [name, { command: "true" }]),
    );
    home.write("work/.mcp.json", JSON.stringify({ mcpServers }));
    expect(await words("mcp", "test", "t")).toEqual(["time", ""]);
    const all = await words("mcp", "allow", "");
    expect(all.filter((one) => /[$ \n(]/.test(one))).toEqual([]);
    home.write("work/.mcp.json", "not json");
    expect(await words("mcp", "test", "")).toEqual([""]);
  });

  test("a key of the configuration; nothing where a file is meant, and nothing of what is not there", async () => {
    expect(await words("config", "set", "max")).toContain("maxSteps");
    expect(await words("run", "do", "x")).toEqual([""]);
    expect(await words("nothing", "")).toEqual([""]);
    expect(await words("run", "--resu", "x", "--nothing", "")).toEqual([""]);
  });

  test("asks nobody about a project that is not trusted, and starts nothing", async () => {
    home.write("work/.toolcrib.json", `{ "mode": "full" }`);
    expect(await words("run", "--mod")).toEqual(["--model", "--mode", ""]);
  });
});

test("another shell is refused by name", async () => {
  const { stderr, code } = await home.toolcrib(["completion", "tcsh"]);
  expect({ stderr, code }).toEqual({ code: 2, stderr: "toolcrib: completion tcsh: expected bash, zsh, fish\n" });
});
