import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { ProgramEnd } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { homeFor } from "../../fixtures/command.ts";
import { findFolders } from "../state/folders.ts";
import { ownTrust } from "../state/ownTrust.ts";
import { trustedFiles } from "./loadSources.ts";
import { readProjectFiles } from "./projectFiles.ts";
import { trustedText } from "./trust.ts";

const home = homeFor("untrusted");
/** Nothing listens there. */
const env = { OLLAMA_HOST: "127.0.0.1:9" };
const run = (prompt = "list .", ...flags: string[]): Promise<ProgramEnd> =>
  home.toolcrib(["run", prompt, "-m", "offline", ...flags], { env });
const chat = (): Promise<ProgramEnd> => home.toolcrib(["chat", "-m", "offline"], { env, input: "list .\n" });
const write = (path: string, content: string | Uint8Array): string => home.write(`work/${path}`, content);
const latin1 = Buffer.from("Pr\u00fcfe das.\n", "latin1");

describe("a folder that is not trusted ends nothing: what cannot be used is left out, with one line", () => {
  test.each<[string, () => void, RegExp]>([
    ["a command in Latin-1", () => write(".toolcrib/commands/a.md", latin1), /commands\/a\.md \(it must be a text/],
    ["a hook that is a program", () => write(".toolcrib/hooks/a", Buffer.from([0x7f, 0xff])), /hooks\/a \(it must/],
    ["a command above 1 MB", () => write(".toolcrib/commands/a.md", "x".repeat(2 ** 20 + 1)), /more than 1 MB/],
    [
      "more than 200 hooks",
      () => {
        for (let hook = 0; hook <= 200; hook += 1) write(`.toolcrib/hooks/${hook}.sh`, "true\n");
      },
      /hooks \(it holds more than 200 files\)/,
    ],
    [
      "many of them",
      () => {
        for (const name of "abcdefgh") write(`.toolcrib/commands/${name}\u001b[2J.md`, latin1);
      },
      /a\[2J\.md .*and 5 more/,
    ],
    [
      "a configuration that is no JSON",
      () => write(".toolcrib.json", "{ mode: "),
      /\.toolcrib\.json:1: it is not valid/,
    ],
    ["a key that there is not", () => write(".toolcrib.json", '{ "modle": "x" }'), /modle is not a key/],
    ["a key that is the user's", () => write(".toolcrib.json", '{ "color": "never" }'), /belongs only in your own/],
    ["a configuration above 1 MB", () => write(".toolcrib.json", " ".repeat(2 ** 20 + 1)), /more than 1 MB/],
    ["a configuration that is a folder", () => mkdirSync(home.at(".toolcrib.json")), /it is a directory/],
    ["a configuration that is no text", () => write(".toolcrib.json", latin1), /Left out: \.toolcrib\.json/],
    [
      "a rule that is none",
      () => write(".toolcrib.json", '{ "deny": ["write_file(["] }'),
      /"write_file\(\[" is not a rule/,
    ],
    ["a rule for no tool", () => write(".toolcrib.json", '{ "deny": ["wirte_file"] }'), /there is no such tool/],
  ])("%s", async (_what, prepare, says) => {
    prepare();
    for (const end of [await run(), await chat()]) {
      expect(end).toMatchObject({ code: 0, stdout: expect.stringContaining(". holds") });
      expect(end.stderr).toMatch(says);
      expect(end.stderr.match(/^Left out: /gm)).toHaveLength(1);
      expect(end.stderr).not.toContain("\u001b");
    }
  });

  test("links in place of its folders, and files in place of them, are not even named", async () => {
    write(".toolcrib", "a file");
    expect(await run()).toMatchObject({ code: 0, stderr: expect.not.stringContaining("Left out") });
    rmSync(home.at(".toolcrib"));
    mkdirSync(join(home.base, "elsewhere/commands"), { recursive: true });
    symlinkSync(join(home.base, "elsewhere"), home.at(".toolcrib"));
    expect((await chat()).code).toBe(0);
  });
});

test.each([
  '{ "mode": "fast", "deny": ["write_file"] }',
  '{ "deny": ["write_file"], "allow": ["write_file"],, }',
  '{ "deny": ["write_file"], "deny": [] }',
  '{ "deny": ["write_file", "mkdir([", "wirte_file"] }',
])("rules that deny hold out of %s, as far as they can be read", async (text) => {
  write(".toolcrib.json", text);
  const end = await run("write hi to a.txt", "--mode", "full");
  expect(end).toMatchObject({ code: 4, stderr: expect.stringContaining("Permission denied") });
});

test("in a folder that the user has answered for, a configuration that is wrong is an error", async () => {
  await home.toolcrib(["config", "set", "mode", "plan", "--project"]);
  write(".toolcrib.json", '{ "mode": "plan", "deny": ["write_file" }');
  expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining(".toolcrib.json:1: ") });
});

test("a yes does not hold once a part is left out, and none is given to hooks that cannot be read", async () => {
  write(".toolcrib.json", '{ "hooks": { "beforeCall": [{ "command": "touch ran" }] } }');
  write(".toolcrib/commands/a.md", latin1);
  const trust = () => home.toolcrib(["config", "trust"]);
  expect(await trust()).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("Left out: .toolcrib/commands/a.md"),
  });
  expect((await run()).stderr).not.toContain("is not used");
  write(".toolcrib/commands/b.md", latin1);
  expect((await run()).stderr).toContain("it has changed since you were asked");
  write(".toolcrib/hooks/b", latin1);
  expect((await run()).stderr).toContain("some of its hooks cannot be read");
  expect(await trust()).toMatchObject({ code: 2, stderr: expect.stringContaining("hooks/b (it must be a text") });
});

test("hooks that cannot be read are not asked about, and an earlier yes to them counts for nothing", async () => {
  write(".toolcrib.json", '{ "hooks": { "beforeCall": [{ "command": "touch ran" }] }, "mode": "full" }');
  write(".toolcrib/commands/say.md", "Say it.");
  write(".toolcrib/hooks/b", latin1);
  const program = home.onTerminal(["permissions", "list"], { columns: 200 });
  await program.shows("is not used: some of its hooks cannot be read; correct or remove them");
  expect(await program.ended).toBe(0);
  expect(program.screen.text).not.toContain("mode  full");
  const doctor = await home.toolcrib(["doctor"], { env });
  expect(doctor.stdout).toContain("correct or remove its hooks that are left out");
  // As a version before kept it.
  const found = readProjectFiles(home.folder);
  const text = JSON.stringify([readFileSync(home.at(".toolcrib.json"), "utf8"), found.files, found.leftOut]);
  const digest = createHash("sha256").update(text).digest("hex");
  const answers = { [realpathSync(home.folder)]: { digest, isTrusted: true } };
  home.write("state/toolcrib/trusted.json", JSON.stringify(answers));
  expect(await trustedFiles({ trust: ownTrust(findFolders(home.env), String) }, home.folder)).toEqual([]);
  expect((await home.toolcrib(["permissions", "list"])).stdout).not.toContain("mode  full");
});

test("a yes is bound to the names of what is left out, not to the words why", () => {
  const textOf = (path: string, why: string) => trustedText("{}", { files: [], leftOut: [{ path, why }] });
  expect(textOf("commands/a.md", "too large")).toBe(textOf("commands/a.md", "no text"));
  expect(textOf("commands/a.md", "too large")).not.toBe(textOf("commands/b.md", "too large"));
  for (const path of ["hooks", "hooks/b"]) expect(textOf(path, "no text")).toBeUndefined();
});
