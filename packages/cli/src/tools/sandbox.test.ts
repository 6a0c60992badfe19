import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sandboxFolders } from "../../fixtures/sandboxed.ts";

const { folders, toolcrib, shell } = sandboxFolders();

/** A PATH without bubblewrap. */
const without = { PATH: "/nowhere" };

describe("the sandbox of run_bash", () => {
  test("--no-sandbox runs commands without it and prints no note", async () => {
    const { answer, notes } = await shell(`touch '${folders.outside}/free'`, ["--no-sandbox"], without);
    expect({ ...answer, notes }).toEqual({
      stdout: "",
      stderr: expect.any(String) as string,
      exit_code: 127,
      notes: "",
    });
    expect((await shell(`touch '${folders.outside}/free'`, ["--no-sandbox"])).answer.exit_code).toBe(0);
    expect(existsSync(join(folders.outside, "free"))).toBe(true);
  });

  test("that is not available is a note, or an error before anything runs where a flag asks for it", async () => {
    const told = await shell("echo fine", [], without);
    expect(told.answer.stdout).toBe("fine\n");
    expect(told.notes).toMatch(/^Commands run without a sandbox: bwrap [^\n]*\n$/);
    for (const flags of [["--sandbox"], ["--sandbox-allow", "network"]]) {
      const refused = await shell(`echo > '${folders.folder}/ran'`, flags, without);
      expect(refused).toMatchObject({ code: 2, answer: undefined });
      expect(refused.notes).toMatch(/^toolcrib: the sandbox is not available: .*--no-sandbox/);
    }
    expect(existsSync(join(folders.folder, "ran"))).toBe(false);
  });

  test("is not mentioned where run_bash is off", async () => {
    const list = ["tools", "call", "list_dir", "--path", "."];
    expect(await toolcrib(list, without)).toMatchObject({ code: 0, stderr: "" });
    const off = ["run", "list the files", "-m", "offline", "--enable", "run_bash", "--disable", "run_bash"];
    expect((await toolcrib(off, without)).stderr).not.toContain("sandbox");
    expect((await toolcrib(off.slice(0, -2), without)).stderr).toContain("without a sandbox");
  });

  test.each([
    [["--sandbox-allow", "nework"], "--sandbox-allow nework: expected network, sockets or a protected path"],
    [["--no-sandbox", "--sandbox-allow", "network"], "leave one of the two out"],
  ])("%j is a usage error", async (flags, words) => {
    const { code, notes } = await shell("true", flags);
    expect(code).toBe(2);
    expect(notes).toContain(words);
  });
});
