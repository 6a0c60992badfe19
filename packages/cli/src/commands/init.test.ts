import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ProgramEnd, temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { command } from "../../fixtures/command.ts";
import { projectName } from "./init.ts";

let folder = "";

beforeEach(() => {
  folder = temporaryFolder("init");
});

const init = (...args: string[]): Promise<ProgramEnd> =>
  command(["init", ...args], { cwd: folder, env: { XDG_STATE_HOME: join(folder, "../state") } });

describe("toolcrib init", () => {
  test("makes a project with the versions of this command", async () => {
    const made = await init("My Agent");
    expect(made).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /cd 'My Agent'\n {2}npm install\n {2}npm test\n {2}npm start -- "list src"\n\nNo key is needed/,
      ),
    });
    const project = join(folder, "My Agent");
    const own = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
    const manifest = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as {
      name: string;
      dependencies: Record<string, string>;
    };
    expect(manifest.name).toBe("my-agent");
    expect(new Set(Object.values(manifest.dependencies))).toEqual(new Set([`^${own.version}`]));
    expect(readFileSync(join(project, "README.md"), "utf8")).toMatch(/^# my-agent\n/);
    expect(readdirSync(project)).toContain(".gitignore");
  });

  test("fills the directory that it is started in, beside what is there", async () => {
    writeFileSync(join(folder, "notes.md"), "mine\n");
    expect(await init()).toMatchObject({ code: 0, stdout: expect.not.stringContaining("cd ") });
    expect(readFileSync(join(folder, "notes.md"), "utf8")).toBe("mine\n");
    expect(existsSync(join(folder, "src", "tools", "countWords.ts"))).toBe(true);
  });

  test.each([
    ["a file", (path: string): void => writeFileSync(path, "mine\n")],
    ["a link that leads nowhere", (path: string): void => symlinkSync("nowhere", path)],
  ])("overwrites nothing, and then writes nothing at all: %s is in the way", async (_what, block) => {
    mkdirSync(join(folder, "src"));
    block(join(folder, "src", "main.ts"));
    expect(await init(".")).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(
        /^toolcrib: init \.: src\/main\.ts exists, and init overwrites nothing; name another directory\n$/,
      ),
    });
    expect(readdirSync(folder, { recursive: true }).sort()).toEqual(["src", "src/main.ts"]);
  });

  test("a file in place of the directory, or an empty name, is a mistake", async () => {
    writeFileSync(join(folder, "a.txt"), "");
    for (const dir of ["a.txt", ""]) {
      expect(await init(dir)).toMatchObject({ code: 2, stderr: expect.stringMatching(/this is not a directory/) });
    }
    expect(readdirSync(folder)).toEqual(["a.txt"]);
  });

  test.each([
    ["/x/My Agent (2)", "my-agent-2-"],
    ["/x/.hidden", "hidden"],
    ["/x/…", "my-agent"],
    ["/", "my-agent"],
  ])("%s becomes the name %s", (path, name) => expect(projectName(path)).toBe(name));
});
