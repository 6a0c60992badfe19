import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { defineTool, type ExecutableTool, type ToolContext, ToolRegistry } from "@toolcrib/core";
import { sharedFolder } from "@toolcrib/testing";
import { createLeftovers, sandboxProblem } from "@toolcrib/tools-bash";
import { beforeAll, describe, expect, test } from "vitest";
import { Agent } from "./agent.ts";
import { createDefaultToolRegistry } from "./factory.ts";
import type { DefaultToolOptions } from "./options.ts";

const ten = [
  ...["read_file", "write_file", "save_session_context", "list_dir", "mkdir", "remove", "move"],
  ...["search_text", "search_files", "run_bash"],
];
const enabledEight = ten.filter((name) => name !== "remove" && name !== "run_bash");

const withoutSandbox = (await sandboxProblem()) !== undefined || !tmpdir().startsWith("/tmp");
const folder = sharedFolder("defaults");
let inside = "";
beforeAll(() => {
  inside = join(folder, "inside");
  mkdirSync(inside);
  writeFileSync(join(inside, "a.txt"), "heron\n");
  writeFileSync(join(folder, "outside.txt"), "secret heron\n");
});

const echo = defineTool({
  name: "echo",
  description: "Says it again.",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  execute: ({ text }) => text,
});

const named = (name: string): ExecutableTool => ({
  ...echo,
  name,
  getSchema: () => ({ ...echo.getSchema(), function: { ...echo.getSchema().function, name } }),
  execute: async () => `${name} there`,
});

function enabledOf(registry: ToolRegistry): string[] {
  return registry.getEnabledSchemas().map((schema) => schema.function.name);
}

describe("createDefaultToolRegistry", () => {
  test("registers exactly the ten, in their order, enabled but for remove and run_bash", () => {
    const registry = createDefaultToolRegistry();
    expect([registry.getToolNames(), enabledOf(registry)]).toEqual([ten, enabledEight]);
  });

  test("with background commands their two tools come after the ten, disabled as run_bash is", () => {
    const registry = createDefaultToolRegistry(undefined, { bash: { background: true }, extra: [echo] });
    expect(registry.getToolNames()).toEqual([...ten, "read_output", "stop_command", "echo"]);
    for (const name of ["run_bash", "read_output", "stop_command"]) expect(registry.isToolEnabled(name)).toBe(false);
    const enable = ["run_bash", "read_output", "stop_command"];
    const enabled = createDefaultToolRegistry(undefined, { bash: { background: true }, enable });
    for (const name of enable) expect(enabled.isToolEnabled(name)).toBe(true);
    expect(() => createDefaultToolRegistry(undefined, { enable: ["read_output"] })).toThrow("there is no such tool");
    const withInput = createDefaultToolRegistry(undefined, { bash: { background: true, input: true } });
    expect(withInput.getToolNames()).toEqual([...ten, "read_output", "stop_command", "write_input"]);
    expect(withInput.isToolEnabled("write_input")).toBe(false);
  });

  test("enable and disable toggle, disable wins, and each registry is its own", () => {
    const changed = createDefaultToolRegistry(undefined, {
      enable: ["run_bash", "remove"],
      disable: ["move", "remove"],
    });
    expect(enabledOf(changed)).toEqual([...enabledEight.filter((name) => name !== "move"), "run_bash"]);
    expect(enabledOf(createDefaultToolRegistry())).toEqual(enabledEight);
  });

  test.each(["enable", "disable"])("an unknown name in %s is refused, naming the nearest", (option) => {
    const make = (name: string) => () => createDefaultToolRegistry(undefined, { [option]: [name] });
    expect(make("raed_file")).toThrow(`Cannot ${option} raed_file: there is no such tool. Did you mean read_file?`);
    expect(make("zzz")).toThrow("There are read_file, write_file");
    expect(make("zzz")).toThrow(expect.objectContaining({ code: "not_found", toolName: "zzz" }));
  });

  test("extra tools come after the ten, enabled, and may be toggled; a taken name is refused", () => {
    const registry = createDefaultToolRegistry(undefined, { extra: [echo] });
    expect(registry.getToolNames()).toEqual([...ten, "echo"]);
    expect(registry.isToolEnabled("echo")).toBe(true);
    const without = createDefaultToolRegistry(undefined, { extra: [echo], disable: ["echo"] });
    expect(without.isToolEnabled("echo")).toBe(false);
    expect(() => createDefaultToolRegistry(undefined, { extra: [named("move")] })).toThrow("Tool already exists: move");
  });

  test("packs that were made elsewhere are in place of its own, in the same order, toggled as ever", async () => {
    const there = createDefaultToolRegistry(undefined, { root: inside }).getToolNames().toReversed();
    const packs = there.filter((name) => name !== "save_session_context").map(named);
    const more = ["edit_file", "apply_patch"].map(named);
    const registry = createDefaultToolRegistry(undefined, { packs: [...packs, ...more], extra: [echo] });
    expect(registry.getToolNames()).toEqual([...ten, "echo"]);
    expect(enabledOf(registry)).toEqual([...enabledEight, "echo"]);
    expect(await registry.execute("list_dir", { text: "" })).toBe("list_dir there");
    expect(registry.get("save_session_context")?.origin).toBe("@toolcrib/agent");
    // No tool of this machine takes the place of one that is not there.
    expect(createDefaultToolRegistry(undefined, { packs: [named("list_dir")] }).getToolNames()).toEqual([
      "save_session_context",
      "list_dir",
    ]);
    expect(() => createDefaultToolRegistry(undefined, { packs: [], root: inside })).toThrow("root has no effect");
    expect(() => createDefaultToolRegistry(undefined, { packs: undefined as never })).toThrow(
      "packs must be an array of tools",
    );
    for (const name of ["web_read_file", "save_session_context"])
      expect(() => createDefaultToolRegistry(undefined, { packs: [...packs, named(name)] })).toThrow(
        `packs holds "${name}", which is not the name of a tool of the packs; connect without prefix`,
      );
  });

  test("root confines the file and search tools, several roots as well", async () => {
    const registry = createDefaultToolRegistry(undefined, { root: inside });
    expect(await registry.execute("read_file", { path: join(inside, "a.txt") })).toBe("heron\n");
    for (const [name, args] of [
      ["read_file", { path: "../outside.txt" }],
      ["write_file", { path: join(folder, "new.txt"), content: "" }],
      ["list_dir", { path: folder }],
      ["search_text", { query: "heron", paths: [folder] }],
      ["search_files", { pattern: "*", cwd: folder }],
    ] as const) {
      expect(await registry.invoke(name, args), name).toMatchObject({
        ok: false,
        error: { code: "permission_denied" },
      });
    }
    const both = createDefaultToolRegistry(undefined, { root: [inside, folder] });
    expect(await both.execute("read_file", { path: join(folder, "outside.txt") })).toBe("secret heron\n");
  });

  test("deny holds for every pack, and every tool can read a folder of readable", async () => {
    const denied = createDefaultToolRegistry(undefined, { root: inside, deny: ["a.txt"], bash: { cwd: inside } });
    expect(await denied.execute("read_file", { path: "a.txt" })).toContain("is on the list of denied paths");
    expect(await denied.execute("search_files", { pattern: "**" })).toContain("[left out: 1 denied name]");
    expect(() => createDefaultToolRegistry(undefined, { deny: ["a["] })).toThrow("never closed");
    expect(() =>
      createDefaultToolRegistry(undefined, { deny: ["a["], fs: { deny: [] }, search: { deny: [] } }),
    ).toThrow("never closed");

    const registry = createDefaultToolRegistry(undefined, { root: inside, readable: folder });
    const path = join(folder, "outside.txt");
    expect(await registry.execute("read_file", { path })).toBe("secret heron\n");
    expect(await registry.execute("search_text", { query: "secret", paths: [folder] })).toBe(`${path}:1:secret heron`);
    expect(await registry.execute("write_file", { path, content: "" })).toContain("Permission denied");
  });

  test.skipIf(withoutSandbox)("commands in the sandbox can read a folder of readable, in /tmp too", async () => {
    const shared = { root: inside, enable: ["run_bash"], bash: { sandbox: true } };
    const args = { command: `cat ${join(folder, "outside.txt")}` };
    expect(await createDefaultToolRegistry(undefined, shared).execute("run_bash", args)).not.toContain("heron");
    const registry = createDefaultToolRegistry(undefined, { ...shared, readable: folder });
    expect(await registry.execute("run_bash", args)).toContain("secret heron");
  });

  test("each pack gets its own options, which win over root", async () => {
    const leftovers = createLeftovers();
    const registry = createDefaultToolRegistry(undefined, {
      root: folder,
      fs: { root: inside, cwd: inside, maxBytes: 3 },
      search: { cwd: inside },
      bash: { cwd: inside, leftovers },
      enable: ["run_bash"],
    });
    expect(await registry.execute("read_file", { path: "a.txt" })).toMatch(/^her\n\n\[truncated/);
    expect(await registry.execute("search_text", { query: "heron", paths: ["."] })).toBe("a.txt:1:heron");
    expect(await registry.invoke("read_file", { path: join(folder, "outside.txt") })).toMatchObject({ ok: false });
    expect(JSON.parse(await registry.execute("run_bash", { command: "cat a.txt" }))).toMatchObject({
      stdout: "heron\n",
    });
  });

  test("a root, deny or readable that is undefined is refused, common or of a pack: a limit was meant", () => {
    const make = (options: DefaultToolOptions) => () => createDefaultToolRegistry(undefined, options);
    expect(make({ root: undefined })).toThrow("root must be the path of a directory");
    expect(make({ root: inside, fs: { root: undefined } })).toThrow("root must be the path of a directory");
    expect(make({ root: inside, search: { root: undefined } })).toThrow("root must be the path of a directory");
    expect(make({ deny: undefined })).toThrow("deny must be an array of path patterns");
    expect(make({ readable: undefined })).toThrow("readable must be the path of a directory");
  });

  test.each<[unknown, string]>([
    [{ root: "/tmp" }, "; root is an option; without one call createDefaultToolRegistry(undefined, options)"],
    [{ enable: ["run_bash"] }, "; enable is an option;"],
    [{}, "the first argument is the context, with systemPrompt, sessionContext, sessionContextFilePath"],
    [null, "the first argument is the context"],
    ["/tmp", "the first argument is the context"],
    [new URL("file:///tmp"), "the first argument is the context"],
  ])("%o as context is refused", (given, words) => {
    expect(() => createDefaultToolRegistry(given as ToolContext)).toThrow(TypeError);
    expect(() => createDefaultToolRegistry(given as ToolContext)).toThrow(words);
  });

  test.each<[unknown, string]>([
    [{ roots: ["/tmp"] }, 'unknown option "roots"; did you mean "root"?'],
    [{ rot: "/tmp" }, 'unknown option "rot"; did you mean "root"?'],
    [{ disabled: ["move"] }, 'unknown option "disabled"; did you mean "disable"?'],
    [{ root: null }, "root must be the path of a directory"],
    [{ fs: { rot: "/tmp" } }, 'createFsTools: unknown option "rot"; did you mean "root"?'],
    [
      { fs: undefined },
      "fs must be a plain object with the options of its pack, received undefined; leave it out for none",
    ],
    [{ fs: null }, "fs must be a plain object"],
    [{ fs: new URL("file:///tmp") }, "fs must be a plain object"],
    [{ fs: Object.create({ root: "/tmp" }) }, "fs must be a plain object"],
    [{ search: "/tmp" }, "search must be a plain object"],
    [{ bash: ["/tmp"] }, "bash must be a plain object"],
    [{ disable: undefined }, "disable must be an array of tool names"],
    [{ disable: "move" }, "disable must be an array of tool names"],
    [{ enable: "run_bash" }, "enable must be an array of tool names"],
    [{ enable: [echo] }, "enable must be an array of tool names"],
    [{ extra: echo }, "extra must be an array of tools"],
    [null, "options must be a plain object"],
    [new URL("file:///tmp"), "got an instance of URL"],
  ])("options that cannot be understood are refused: %o", (options, words) => {
    const make = () => createDefaultToolRegistry(undefined, options as DefaultToolOptions);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(words);
  });

  test("a context may be an instance of a class with getters, as the agent's is", () => {
    class Context {
      readonly systemPrompt = "";
      readonly sessionContext = [];
      get sessionContextFilePath() {
        return "session.json";
      }
    }
    expect(createDefaultToolRegistry(new Context()).getToolNames()).toEqual(ten);
  });

  test("save_session_context writes the given context to its file, with later changes", async () => {
    let prompt = "first";
    const path = join(folder, "session.json");
    const registry = createDefaultToolRegistry({
      get systemPrompt() {
        return prompt;
      },
      sessionContext: [],
      sessionContextFilePath: path,
    });
    prompt = "second";
    await registry.execute("save_session_context", { reason: "test" });
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({
      systemPrompt: "second",
      messages: [],
      reason: "test",
    });
  });

  test("without a context save_session_context still saves, to .toolcrib/session.json, and says that it had no conversation", async () => {
    const before = process.cwd();
    process.chdir(inside);
    try {
      expect(await createDefaultToolRegistry().execute("save_session_context", { reason: "test" })).toMatch(
        /^Saved 0 messages to .*: there is no conversation to save/,
      );
      expect(JSON.parse(readFileSync(join(inside, ".toolcrib", "session.json"), "utf8"))).toMatchObject({
        reason: "test",
      });
    } finally {
      process.chdir(before);
    }
  });
});

describe("The Agent preset", () => {
  test("has the default tools, whose context is the agent's", async () => {
    const path = join(folder, "agent.json");
    const agent = new Agent(new ScriptedProvider(["Hello."]), {
      systemPrompt: "Be brief.",
      sessionContextFilePath: path,
    });
    expect(agent.toolRegistry.getToolNames()).toEqual(ten);
    await agent.chat("Hi");
    await agent.saveContext("done");
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({
      systemPrompt: "Be brief.",
      messages: [{ role: "user" }, { role: "assistant" }],
    });
  });

  test("an option of the registry is refused: it would do nothing; so are options that are not a plain object", () => {
    for (const name of ["root", "fs", "enable", "disable"])
      expect(() => new Agent(new ScriptedProvider([]), { [name]: "/tmp" })).toThrow(
        `Agent: ${name} is an option of createDefaultToolRegistry; pass { tools: (context) =>`,
      );
    for (const given of [null, [], 5, ["root"], new Map([["maxSteps", 5]]), () => ({})])
      expect(() => new Agent(new ScriptedProvider([]), given as never)).toThrow(
        /^Agent: options must be a plain object/,
      );
  });

  test("uses given tools as they are, and resumes as itself with the default ones", async () => {
    const own = new ToolRegistry();
    own.register(echo);
    expect(new Agent(new ScriptedProvider([]), { tools: own }).toolRegistry).toBe(own);
    const path = join(folder, "resume.json");
    const first = new Agent(new ScriptedProvider(["Hello."]), { sessionContextFilePath: path });
    await first.chat("Hi");
    await first.saveContext("done");
    const second = await Agent.resume(new ScriptedProvider(["Again."]), path);
    expect(second).toBeInstanceOf(Agent);
    expect(second.toolRegistry.getToolNames()).toEqual(ten);
    expect(await second.chat("Still there?")).toBe("Again.");
    expect(second.sessionContext).toHaveLength(4);
  });
});
