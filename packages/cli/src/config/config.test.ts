import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type ProgramEnd, temporaryServer } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { homeFor } from "../../fixtures/command.ts";
import { configSchema } from "../version.ts";

import { settings } from "./settings.ts";

const home = homeFor("config");
const user = (): string => join(home.base, "config", "toolcrib", "config.json");
const project = (): string => home.at(".toolcrib.json");
const toolcrib = (args: readonly string[], env: Record<string, string> = {}): Promise<ProgramEnd> =>
  home.toolcrib(args, { env });
const writeUser = (text: string): string => home.write("config/toolcrib/config.json", text);

async function modeOf(...args: string[]): Promise<string> {
  return /^mode {2}(\S+):/m.exec((await toolcrib(["permissions", "list", ...args])).stdout)?.[1] ?? "";
}

test("every key has a description in the schema, and the schema has no other", () => {
  const { properties } = configSchema() as {
    properties: Record<string, { description?: string; properties?: object }>;
  };
  const keys = Object.entries(properties).flatMap(([key, { properties: inner }]) =>
    inner ? Object.keys(inner).map((name) => `${key}.${name}`) : [key],
  );
  expect(keys.filter((key) => key !== "$schema").sort()).toEqual(Object.keys(settings).sort());
  for (const { description } of Object.values(properties)) expect(description).toMatch(/\.$/);
});

describe("what holds", () => {
  test("a flag before the environment, that before the project, that before the user's file", async () => {
    expect(await modeOf()).toBe("ask");
    writeUser(`{ "mode": "read-only" }`);
    expect(await modeOf()).toBe("read-only");
    writeFileSync(project(), `{ "mode": "accept-edits" }`);
    await toolcrib(["config", "trust"]);
    expect(await modeOf()).toBe("accept-edits");
    const { stdout } = await toolcrib(["permissions", "list"], { TOOLCRIB_MODE: "full" });
    expect(stdout).toContain("mode  full:");
    const flag = await toolcrib(["permissions", "list", "--mode", "ask"], { TOOLCRIB_MODE: "full" });
    expect(flag.stdout).toContain("mode  ask:");
  });

  test("rules of all add up", async () => {
    writeUser(`{ "deny": ["run_bash(rm *)"], "allow": ["run_bash(npm test)"] }`);
    writeFileSync(project(), `{ "deny": ["effect:read(.env)"], "ask": ["write_file(db/)"] }`);
    await toolcrib(["config", "trust"]);
    const { stdout } = await toolcrib(["permissions", "list", "--deny", "move"]);
    expect(stdout.split("\n").slice(1, 6)).toEqual([
      "deny  effect:read(.env)",
      "deny  run_bash(rm *)",
      "deny  move",
      "ask   write_file(db/)",
      "allow run_bash(npm test)",
    ]);
  });

  test("a setting reaches every command that has its flag: the model of run, the tools of tools list", async () => {
    writeUser(`{ "model": "offline", "enable": ["run_bash"], "disable": ["move"] }`);
    const { stdout, stderr, code } = await toolcrib(["run", "list ."]);
    expect({ stdout, code }).toEqual({ code: 0, stdout: expect.any(String) });
    expect(stderr).not.toContain("No model is connected");
    const list = (await toolcrib(["tools", "list"])).stdout;
    expect(list).toMatch(/^on {3}run_bash /m);
    expect(list).toMatch(/^off {2}move /m);
  });

  test("the mode is not for tools call, where the user has named the call", async () => {
    writeUser(`{ "mode": "read-only" }`);
    const args = ["tools", "call", "write_file", "--path", "a.txt", "--content", "hello"];
    expect((await toolcrib(args)).code).toBe(0);
    expect(readFileSync(home.at("a.txt"), "utf8")).toBe("hello");
  });

  test("the address of one provider is not used for another, which would get that one's key", async () => {
    const asked: string[] = [];
    const url = await temporaryServer((request, response) => {
      asked.push(request.url ?? "");
      response.writeHead(401).end("{}");
    });
    const baseUrl = `${url}/v1`;
    writeUser(JSON.stringify({ model: "openai-compatible/x", baseUrl }));
    const elsewhere = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${new URL(baseUrl).origin}/other` };
    await toolcrib(["run", "hello", "-m", "openai"], elsewhere);
    expect(asked.filter((url) => url.startsWith("/v1"))).toEqual([]);
    await toolcrib(["run", "hello"], elsewhere);
    expect(asked.filter((url) => url.startsWith("/v1"))).toEqual(["/v1/chat/completions"]);
    writeFileSync(project(), `{ "model": "openai" }`);
    await toolcrib(["config", "trust"]);
    await toolcrib(["run", "hello"], elsewhere);
    expect(asked.filter((url) => url.startsWith("/v1"))).toHaveLength(1);
    expect(asked.filter((url) => url.startsWith("/other")).length).toBeGreaterThan(1);
  });

  test("how long conversations are kept, by the user's own file alone", async () => {
    await toolcrib(["run", "list .", "-m", "offline"]);
    const sessions = join(home.base, "state/toolcrib/sessions");
    const own = join(sessions, readdirSync(sessions)[0] ?? "");
    const [journal = ""] = readdirSync(own).filter((name) => name.endsWith(".jsonl"));
    const longAgo = new Date(Date.now() - 3 * 24 * 60 * 60 * 1000);
    utimesSync(join(own, journal), longAgo, longAgo);
    await toolcrib(["run", "list .", "-m", "offline"]);
    expect(readdirSync(own)).toContain(journal);
    await toolcrib(["config", "set", "sessions.keepDays", "2"]);
    const { stderr } = await toolcrib(["run", "list .", "-m", "offline"]);
    expect(stderr).toContain("Removed 1 old conversation (2 days, 500 MB in all).");
    expect(readdirSync(own)).not.toContain(journal);
    writeFileSync(project(), `{ "sessions": { "keepDays": 1 } }`);
    expect((await toolcrib(["config", "trust"])).stderr).toContain("sessions.keepDays belongs only in your own file");
  });

  test("a time and a cost as the flags take them", async () => {
    writeUser(`{ "timeout": "1ms", "maxCost": 0.5 }`);
    expect((await toolcrib(["run", "list .", "-m", "offline"])).code).toBe(5);
    expect((await toolcrib(["run", "list .", "-m", "offline", "--timeout", "5m"])).code).toBe(0);
  });

  test("color is for the screen, and NO_COLOR goes before it", async () => {
    writeUser(`{ "color": "always" }`);
    const { stderr } = await toolcrib(["tools", "list"]);
    expect(stderr).toContain("\u001b[2m");
    expect((await toolcrib(["tools", "list"], { NO_COLOR: "1" })).stderr).not.toContain("\u001b");
    // What asks for the colours elsewhere sees them too.
    expect((await toolcrib(["doctor"])).stdout).not.toContain("no colours");
    writeUser(`{ "color": "never" }`);
    expect((await toolcrib(["doctor"])).stdout).toContain("no colours");
  });
});

describe("a file that is wrong is refused with its line", () => {
  test.each([
    [`{\n  "modle": "x"\n}`, `:2: modle is not a key; did you mean model?`],
    [
      `{\n\n  "mode": "fast" }`,
      `:3: mode expected one of ["ask","plan","read-only","accept-edits","full"], got string "fast"`,
    ],
    [`{ "allow": ["a",\n 3] }`, `:2: allow[1] expected string, got number 3`],
    [`{ "maxSteps": "3" }`, `:1: maxSteps expected integer`],
    [`{ "baseUrl": "http://x/v1" }`, `:1: model is required with baseUrl`],
    [`{ "__proto__": { "mode": "full" } }`, `:1: __proto__ is not a key`],
    [`{\n "mode": "ask"\n "mcp": true }`, `:3: it is not valid JSON with comments (Comma expected)`],
    [``, `:1: it is`],
    ["[".repeat(100_000), `:1: it is`],
  ])("%#", async (text, problem) => {
    writeUser(text);
    const { stderr, code } = await toolcrib(["permissions", "list"]);
    expect(stderr).toContain(`${user()}${problem}`);
    expect(stderr).toContain("toolcrib config edit");
    expect(code).toBe(2);
  });

  test("in the environment, with the variable", async () => {
    const { stderr, code } = await toolcrib(["run", "list .", "-m", "offline"], { TOOLCRIB_MAX_STEPS: "many" });
    expect({ stderr, code }).toEqual({
      code: 2,
      stderr: 'toolcrib: TOOLCRIB_MAX_STEPS: expected integer, got string "many"\n',
    });
  });

  test("comments, a trailing comma, $schema and a byte order mark are no errors", async () => {
    writeUser(`\ufeff{ // mine\n "$schema": "./x.json", /* so */ "mode": "full", }`);
    expect(await modeOf()).toBe("full");
  });
});

describe("config", () => {
  test("set keeps comments, order and indentation, get shows value and source", async () => {
    writeUser(`{\n    // which one\n    "model": "offline", // the small one\n    "maxSteps": 3 // enough\n}\n`);
    await toolcrib(["config", "set", "model", "openai/gpt-6-luna"]);
    await toolcrib(["config", "set", "allow", "run_bash(npm test *)", "write_file(src/)"]);
    expect(readFileSync(user(), "utf8")).toBe(
      `{\n    // which one\n    "model": "openai/gpt-6-luna", // the small one\n    "maxSteps": 3, // enough\n    "allow": ["run_bash(npm test *)","write_file(src/)"]\n}\n`,
    );
    const got = await toolcrib(["config", "get", "maxSteps"]);
    expect(got).toMatchObject({ stdout: "3\n", stderr: `from ${user()}\n`, code: 0 });
    const json = JSON.parse((await toolcrib(["config", "get", "--json"], { TOOLCRIB_MAX_STEPS: "7" })).stdout);
    expect(json.maxSteps).toEqual({ value: 7, from: "the environment" });
    expect((await toolcrib(["config", "get"])).stdout).toContain(`model: "openai/gpt-6-luna"  (${user()})\n`);
  });

  test("set begins a file for the user, and refuses what does not fit, unchanged", async () => {
    expect((await toolcrib(["config", "set", "mcp", "true"])).code).toBe(0);
    expect(readFileSync(user(), "utf8")).toBe(`{\n  "mcp": true\n}\n`);
    const wrong = await toolcrib(["config", "set", "mode", "fast"]);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("mode expected one of") });
    const unknown = await toolcrib(["config", "set", "modell", "x"]);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("did you mean model?") });
    expect(readFileSync(user(), "utf8")).toBe(`{\n  "mcp": true\n}\n`);
    expect(readdirSync(join(home.base, "config", "toolcrib"))).toEqual(["config.json"]);
  });

  test("set writes through a link in the user's folder, and no link out of a project", async () => {
    const real = join(home.base, "dotfiles.json");
    writeFileSync(real, "{}");
    mkdirSync(join(home.base, "config", "toolcrib"), { recursive: true });
    symlinkSync(real, user());
    symlinkSync(real, project());
    await toolcrib(["config", "set", "mcp", "true"]);
    expect(readFileSync(real, "utf8")).toContain(`"mcp": true`);
    const end = await toolcrib(["config", "set", "mcp", "false", "--project"]);
    expect(end.code).not.toBe(0);
    expect(readFileSync(real, "utf8")).toContain(`"mcp": true`);
  });

  test("edit opens the editor with its arguments, and says afterwards what is wrong", async () => {
    const editor = join(home.base, "my editor.mjs");
    writeFileSync(
      editor,
      `import { writeFileSync } from "node:fs";\nwriteFileSync(process.argv[3], process.argv[2]);\n`,
    );
    const run = (text: string): Promise<ProgramEnd> =>
      toolcrib(["config", "edit"], { EDITOR: `"${process.execPath}" "${editor}" '${text}'` });
    expect((await run(`{ "mode": "full" }`)).code).toBe(0);
    expect(await modeOf()).toBe("full");
    expect(await run(`{ "mode": 1 }`)).toMatchObject({ code: 2, stderr: expect.stringContaining(":1: mode expected") });
    expect(await toolcrib(["config", "edit"])).toMatchObject({ code: 2, stderr: expect.stringContaining(user()) });
  });

  test("path says where the files are", async () => {
    expect((await toolcrib(["config", "path"])).stdout).toBe(`${user()}\n`);
    expect((await toolcrib(["config", "path", "--project"])).stdout).toBe(`${project()}\n`);
  });
});

describe("no tool changes what decides about it", () => {
  test("the user's own folder, in any mode and by any name", async () => {
    writeUser(`{}`);
    linkSync(user(), join(home.base, "other-name.json"));
    const root = ["--root", home.base, "--mode", "full"];
    for (const path of [
      user(),
      join(home.base, "other-name.json"),
      join(home.base, "config", "toolcrib", "AGENTS.md"),
    ]) {
      const args = ["tools", "call", "write_file", ...root, "--path", path, "--content", `{"mode":"full"}`];
      const { code, stderr } = await toolcrib(args);
      expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining("no tool changes it") });
    }
    expect(readFileSync(user(), "utf8")).toBe("{}");
  });

  test(".toolcrib.json of the project is asked about, by its own name and by another", async () => {
    writeFileSync(project(), `{}`);
    linkSync(project(), home.at("notes.txt"));
    for (const path of [".toolcrib.json", "notes.txt"]) {
      const args = ["tools", "call", "write_file", "--mode", "full", "--path", path, "--content", "{}"];
      expect((await toolcrib(args)).code).toBe(4);
    }
  });
});

test("without files, the configuration makes none", async () => {
  await toolcrib(["tools", "list"]);
  expect(existsSync(join(home.base, "config"))).toBe(false);
});

test("a file that others can write keeps no trust", async () => {
  writeFileSync(project(), `{ "mode": "full" }`);
  await toolcrib(["config", "trust"]);
  expect(await modeOf()).toBe("full");
  chmodSync(join(home.base, "state", "toolcrib", "trust.json"), 0o666);
  const { stderr, stdout } = await toolcrib(["permissions", "list"]);
  expect(stderr).toContain(
    "the file that stores the projects, skills and servers that you trust is not trusted: others can write it",
  );
  expect(stdout).not.toContain("full");
});
