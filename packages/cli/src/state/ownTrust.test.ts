import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProgramEnd } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { homeFor } from "../../fixtures/command.ts";
import { findFolders } from "./folders.ts";
import { ownTrust } from "./ownTrust.ts";
import { stateName } from "./stateFolder.ts";

const home = homeFor("trust");
const toolcrib = (...args: string[]): Promise<ProgramEnd> =>
  home.toolcrib(args, { env: { OLLAMA_HOST: "127.0.0.1:9" } });
const state = (path: string): string => join(home.state, "toolcrib", path);

/** Writes a state folder as the version before wrote it, of which these files are, and the project that it is about. */
function writeOldState(): void {
  const kept = (file: string): string =>
    readFileSync(new URL(`../../fixtures/oldState/${file}`, import.meta.url), "utf8").replaceAll(
      "BASE",
      realpathSync(home.base),
    );
  const name = stateName(realpathSync(home.folder));
  for (const file of ["trusted.json", "trusted-skills.json"]) home.write(`state/toolcrib/${file}`, kept(file));
  home.write(`state/toolcrib/consents/${name}.json`, kept("consents.json"));
  home.write(`state/toolcrib/sessions/${name}/2026-11-29T08-41-39-ace502.jsonl`, kept("session.jsonl"));
  home.write(
    "work/.toolcrib.json",
    '{\n  // kept by a test\n  "mode": "plan",\n  "hooks": { "turnEnd": [{ "command": "sh .toolcrib/hooks/end.sh" }] }\n}\n',
  );
  home.write("work/.toolcrib/hooks/end.sh", 'echo "the turn has ended" >&2; exit 2\n');
  home.write("work/.toolcrib/commands/say.md", "Say it.\n");
  home.write("work/.agents/skills/tidy/SKILL.md", "---\nname: tidy\ndescription: Tidies files up.\n---\nTidy up.\n");
  home.write(
    "work/.mcp.json",
    '{ "mcpServers": { "time": { "command": "node", "args": ["-e", "process.exit(0)"] }, "later": { "command": "true" } } }\n',
  );
  home.write("refused/.toolcrib.json", '{ "mode": "full" }\n');
}

test("what was trusted before stays trusted, what was refused stays refused, and conversations go on", async () => {
  writeOldState();
  // The second time from the store alone.
  for (const _time of [1, 2]) {
    expect((await toolcrib("permissions", "list")).stdout).toMatch(/^mode {2}plan/);
    const refused = await home.toolcrib(["permissions", "list"], { cwd: join(home.base, "refused") });
    expect(refused).toMatchObject({ stdout: expect.stringMatching(/^mode {2}ask/) });
    expect(refused.stderr).toContain("you said no to it");
    const { stdout } = await toolcrib("mcp", "list");
    expect(stdout).toMatch(/^time .*process\.exit\(0\) {2}\.mcp\.json\nlater +true \(not allowed yet\)/);
    const { stderr, code } = await toolcrib("run", "list .", "-c", "-m", "offline");
    expect(stderr).toContain("the turn has ended");
    expect(stderr).not.toContain("skill");
    expect(code).toBe(0);
    expect(home.journal().join("\n")).toContain("- tidy: Tidies files up.");
  }
  expect(readdirSync(state("")).filter((name) => /trust/.test(name))).toEqual(["trust.json"]);
  expect(readdirSync(state("consents"))).toEqual([]);
  expect(readdirSync(state(`sessions/${stateName(realpathSync(home.folder))}`))).toHaveLength(1);
  // What is taken back does not come back.
  await toolcrib("config", "trust", "--revoke");
  expect((await toolcrib("permissions", "list")).stdout).toMatch(/^mode {2}ask/);
});

test("an answer that is in the store counts more than one of the version before", async () => {
  writeOldState();
  await toolcrib("config", "trust", "--revoke");
  writeOldState();
  expect((await toolcrib("permissions", "list")).stdout).toMatch(/^mode {2}plan/);
  home.write("work/.toolcrib.json", '{ "mode": "read-only" }');
  await toolcrib("config", "trust");
  writeOldState();
  expect((await toolcrib("permissions", "list")).stderr).toContain("it has changed since you were asked");
});

test.each<[string, string, (path: string) => void]>([
  ["a file of the version before that is no JSON", "trusted.json", (path) => writeFileSync(path, "{ broken")],
  ["one that others can write", "trusted-skills.json", (path) => chmodSync(path, 0o666)],
])("%s is told, stays as it is, and the others count", async (_what, file, spoil) => {
  writeOldState();
  spoil(state(file));
  const before = readFileSync(state(file), "utf8");
  const { stderr } = await toolcrib("run", "list .", "-m", "offline");
  expect(stderr.match(new RegExp(`toolcrib/${file.replace(".", "\\.")}`, "g"))).toHaveLength(1);
  expect(readFileSync(state(file), "utf8")).toBe(before);
  expect((await toolcrib("mcp", "list")).stdout).toMatch(/^time .*process\.exit\(0\) {2}\.mcp\.json/);
});

test.each([
  ["no JSON", "{ broken"],
  ["empty", ""],
  ["of a later version", '{ "version": 2, "answers": [] }'],
  ["no object", '{ "version": 1, "answers": { "project": 1 } }'],
])("a store that is %s trusts nothing, says so once, and is never written over", async (_what, text) => {
  writeOldState();
  writeFileSync(state("trust.json"), text);
  const { stderr, stdout } = await toolcrib("permissions", "list");
  expect(stdout).toMatch(/^mode {2}ask/);
  expect(stderr.match(/trust\.json, which stores what you trust, cannot be read/g)).toHaveLength(1);
  for (const args of [
    ["config", "trust"],
    ["mcp", "allow", "later"],
    ["config", "trust", "--revoke"],
  ])
    expect(await toolcrib(...args)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("correct it, or move it away"),
    });
  expect(readFileSync(state("trust.json"), "utf8")).toBe(text);
  // Nothing of the files before is lost either.
  expect(existsSync(state("trusted.json"))).toBe(true);
});

test("where no folder can be made nothing is trusted, and an answer says that it could not be kept", async () => {
  const told: string[] = [];
  const folders = findFolders({ XDG_STATE_HOME: "/dev/null/x" });
  const trust = ownTrust(folders, (line) => told.push(line));
  expect(await trust.of("project", home.folder, "d")).toBe("new");
  expect(told).toEqual([]);
  await expect(trust.save("project", home.folder, "d")).rejects.toThrow();
});

test("nothing is made for a program that asks about no trust", async () => {
  mkdirSync(home.state);
  await toolcrib("tools", "list");
  expect(existsSync(state("trust.json"))).toBe(false);
});
