import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProgramEnd } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { homeFor } from "../../fixtures/command.ts";
import { describeChanges } from "./trust.ts";

const home = homeFor("trust");
const toolcrib = (args: readonly string[], cwd = home.folder): Promise<ProgramEnd> => home.toolcrib(args, { cwd });
const list = ["permissions", "list"];
const write = (value: object, where = home.folder): void =>
  writeFileSync(join(where, ".toolcrib.json"), JSON.stringify(value));
const isUsed = async (cwd = home.folder): Promise<boolean> => (await toolcrib(list, cwd)).stdout.includes("mode  full");

describe("without a terminal, the configuration of a project that was not trusted", () => {
  test("changes nothing, and a line on stderr names the command that would use it", async () => {
    write({ mode: "full", allow: ["run_bash"], model: "offline", enable: ["run_bash"] });
    const { stdout, stderr, code } = await toolcrib(list);
    expect(stdout).toMatch(/^mode {2}ask:.*\n$/);
    expect({ stderr: stderr.split("\n")[0], code }).toEqual({
      code: 0,
      stderr: ".toolcrib.json is not used: it is not trusted yet; toolcrib config trust shows it and uses it",
    });
    expect((await toolcrib(["tools", "list"])).stdout).toMatch(/^off {2}run_bash/m);
    expect((await toolcrib(["run", "list ."])).stderr).toContain("No model is connected");
    expect((await toolcrib(["config", "get"])).stdout).toBe("");
  });

  test("narrows by its deny rules at once, and by nothing else", async () => {
    write({ deny: ["effect:read(.env)"], ask: ["write_file"], mode: "read-only" });
    const { stdout, stderr } = await toolcrib(list);
    expect(stdout).toMatch(/^mode {2}ask:.*\ndeny {2}effect:read\(\.env\)\n$/);
    expect(stderr).toContain(".toolcrib.json is not used, except its deny rules: ");
    write({ deny: ["effect:read(.env)"] });
    expect((await toolcrib(list)).stderr).not.toContain(".toolcrib.json");
  });
});

describe("trust is bound to the folder and to every character of the file", () => {
  test("config trust shows what it does, what could harm first, and holds until the file changes", async () => {
    write({ maxSteps: 5, mode: "full", deny: ["remove"], sandbox: false });
    const { stderr } = await toolcrib(["config", "trust"]);
    expect(stderr).toBe(
      [
        "Trusted in this directory, until it changes (! could do harm):",
        `! mode: "full" (every call runs without a question, unless a rule or a protected path prevents it)`,
        "! sandbox: false (commands run with all your rights)",
        "  maxSteps: 5",
        "",
      ].join("\n"),
    );
    expect(await isUsed()).toBe(true);
    write({ maxSteps: 5, mode: "full", deny: ["remove"], sandbox: false, allow: ["run_bash"] });
    expect(await isUsed()).toBe(false);
    expect((await toolcrib(list)).stderr).toContain("it has changed since you were asked");
    write({ maxSteps: 5, mode: "full", deny: ["remove"], sandbox: false });
    expect(await isUsed()).toBe(true);
    expect((await toolcrib(["config", "trust", "--revoke"])).stderr).toBe(
      ".toolcrib.json, .toolcrib (commands, hooks) and the skills of this directory are not trusted.\n",
    );
    expect(await isUsed()).toBe(false);
  });

  test("config trust asks on a terminal, after it has shown what the file sets", async () => {
    write({ mode: "full" });
    const terminal = home.onTerminal(["config", "trust"]);
    await terminal.shows(/! mode: "full"[\s\S]*Use it here, until it changes\?/);
    terminal.type("n\r");
    expect([await terminal.ended, await isUsed()]).toEqual([4, false]);
  });

  test("the same file in another folder is not trusted, nor one that came to the place of the folder", async () => {
    write({ mode: "full" });
    await toolcrib(["config", "trust"]);
    const other = join(home.base, "other");
    mkdirSync(other);
    write({ mode: "full" }, other);
    expect(await isUsed(other)).toBe(false);
    renameSync(home.folder, join(home.base, "gone"));
    mkdirSync(home.folder);
    write({ mode: "full", allow: ["run_bash"] });
    expect(await isUsed()).toBe(false);
  });

  test("a link to a trusted folder is that folder, and a link in its place to another is not", async () => {
    write({ mode: "full" });
    await toolcrib(["config", "trust"]);
    const link = join(home.base, "link");
    symlinkSync(home.folder, link);
    expect(await isUsed(link)).toBe(true);
    const other = join(home.base, "other");
    mkdirSync(other);
    write({ mode: "full" }, other);
    rmSync(link);
    symlinkSync(other, link);
    expect(await isUsed(link)).toBe(false);
  });

  test("config set --project keeps trust that was there, and gives none that was not", async () => {
    const set = ["config", "set", "mode", "full", "--project"];
    await toolcrib(set);
    expect(await isUsed()).toBe(true);
    write({ allow: ["run_bash"] });
    await toolcrib(set);
    expect(await isUsed()).toBe(false);
  });

  test("a yes that a project brings along counts for nothing", async () => {
    write({ mode: "full" });
    mkdirSync(join(home.folder, ".local", "state", "toolcrib"), { recursive: true });
    const forged = { [home.folder]: { digest: "0".repeat(64), isTrusted: true } };
    writeFileSync(join(home.folder, ".local", "state", "toolcrib", "trusted.json"), JSON.stringify(forged));
    expect(await isUsed()).toBe(false);
    const real = join(home.base, "state", "toolcrib");
    mkdirSync(real, { recursive: true });
    for (const name of ["trusted.json", "trust.json"]) {
      symlinkSync(join(home.folder, ".local", "state", "toolcrib", "trusted.json"), join(real, name));
      const { stdout, stderr } = await toolcrib(list);
      expect(stdout).not.toContain("full");
      expect(stderr).toContain("is not trusted: it is a link");
      rmSync(join(real, name));
    }
  });
});

describe("what the question shows", () => {
  test("cannot be forged by what is in the file", () => {
    const lines = describeChanges({
      model: "offline\n! nothing else\r\u001b[2K",
      allow: ["run_bash(\u202eevil)", "x\u200b"],
      baseUrl: "https://user:pass@evil.example/v1?api.openai.com",
    });
    expect(lines).toHaveLength(3);
    const text = lines.join("");
    expect(text).not.toMatch(/[\u0000-\u001f\u202e\u200b]/);
    expect(text).not.toContain("pass");
    expect(text).toContain("evil.example");
  });

  test("is asked on a terminal, kept, and asked again after a change", async () => {
    write({ maxSteps: 3, mode: "full" });
    const start = () => home.onTerminal(list, { columns: 100 });
    const first = start();
    await first.shows("Use it here, until it changes? [y]es, [N]o:");
    expect(first.screen.text).toContain('.toolcrib.json of this folder sets (! could do harm):\n! mode: "full"');
    first.type("y\r");
    await first.ended;
    expect(first.screen.text).toContain("mode  full:");
    expect(await isUsed()).toBe(true);

    write({ mode: "full", allow: ["run_bash"] });
    const second = start();
    await second.shows(/has changed\. It now sets(?:.|\n)*\[N\]o:/);
    second.type("\r");
    await second.ended;
    expect(second.screen.text).toContain("mode  ask:");
    // A no is kept, too: it is not asked again.
    const third = start();
    expect(await third.ended).toBe(0);
    expect(third.screen.text).toContain("you said no to it");
    expect(await isUsed()).toBe(false);
  });

  test("Ctrl-C is no yes, and what is too long to show is not asked", async () => {
    write({ mode: "full" });
    const start = () => home.onTerminal(list);
    const left = start();
    await left.shows("[N]o:");
    left.type("\u0003");
    expect(await left.ended).not.toBe(0);
    write({ allow: Array.from({ length: 200 }, (_, index) => `run_bash(command number ${index})`) });
    const long = start();
    expect(await long.ended).toBe(0);
    expect(long.screen.text.replace(/\s+/g, " ")).toContain("sets too much to show on this screen");
    expect(await isUsed()).toBe(false);
  });
});

test("what a project leaves out adds to what the user leaves out", async () => {
  await toolcrib(["config", "set", "disable", "write_file"]);
  write({ disable: ["mkdir"] });
  await toolcrib(["config", "trust"]);
  const { stdout } = await toolcrib(["tools", "list"]);
  expect(stdout).toMatch(/^off +write_file/m);
  expect(stdout).toMatch(/^off +mkdir/m);
});

test("a rule that is none is refused when it is set", async () => {
  const { code, stderr } = await toolcrib(["config", "set", "allow", "bogus(("]);
  expect(stderr).toContain('"bogus((" is not a rule');
  expect(code).toBe(2);
  expect((await toolcrib(list)).code).toBe(0);
});

test("a malformed rule is told before the file is trusted, by config trust, config edit and doctor", async () => {
  write({ allow: ["bogus(("] });
  const place = '.toolcrib.json: allow: "bogus((" is not a rule';
  const told = await toolcrib(["config", "trust"]);
  expect(told).toMatchObject({ code: 2, stderr: expect.stringContaining(place) });
  expect(told.stderr).toContain("correct it with: toolcrib config edit --project");
  expect((await toolcrib(list)).stderr).toContain("it is not trusted yet");
  expect((await toolcrib(["doctor"])).stdout).toContain(`✗ ${place}`);
  const edit = await home.toolcrib(["config", "edit", "--project"], { env: { EDITOR: "true" } });
  expect(edit).toMatchObject({ code: 2, stderr: expect.stringContaining(place) });
});

test("config unset takes a key out again, leaves the rest and keeps trust that was there", async () => {
  writeFileSync(home.at(".toolcrib.json"), '{\n  // ours\n  "mode": "full",\n  "maxSteps": 5\n}\n');
  await toolcrib(["config", "trust"]);
  const { code, stderr } = await toolcrib(["config", "unset", "maxSteps", "--project"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "maxSteps is no longer set in .toolcrib.json.\n" });
  expect(readFileSync(home.at(".toolcrib.json"), "utf8")).toBe('{\n  // ours\n  "mode": "full"\n}\n');
  expect(await isUsed()).toBe(true);
  expect((await toolcrib(["config", "unset", "maxSteps"])).stderr).toContain("maxSteps is not set in ");
  expect(await toolcrib(["config", "unset", "maxStep"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("did you mean maxSteps?"),
  });
});
