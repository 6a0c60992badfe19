import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ProgramEnd, sharedCommand } from "@toolcrib/testing";
import { sandboxProblem } from "@toolcrib/tools-bash";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const bin = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));
const command = sharedCommand(bin);
const works = (await sandboxProblem()) === undefined;

let folder = "";
/** Outside the roots, and not below a /tmp that the sandbox has for itself. */
let outside = "";

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "toolcrib-cli-sandbox-")));
  outside = realpathSync(mkdtempSync(join(homedir(), ".toolcrib-cli-sandbox-")));
});
afterAll(() => {
  for (const path of [folder, outside]) rmSync(path, { recursive: true });
});

function toolcrib(args: readonly string[], env: Record<string, string> = {}): Promise<ProgramEnd> {
  return command(args, { cwd: folder, env: { XDG_STATE_HOME: join(folder, "state"), ...env } });
}

interface Shell {
  code: number | null;
  answer: { stdout: string; stderr: string; exit_code: number };
  notes: string;
}

async function shell(command: string, flags: readonly string[] = [], env: Record<string, string> = {}): Promise<Shell> {
  const words = ["tools", "call", "run_bash", "--enable", "run_bash", ...flags, "--command", command];
  const { code, stdout, stderr } = await toolcrib(words, env);
  return { code, answer: stdout === "" ? undefined : JSON.parse(stdout), notes: stderr };
}

/** A PATH without bubblewrap. */
const without = { PATH: "/nowhere" };

describe("the sandbox of run_bash", () => {
  test.runIf(works)("is on by default, and a refusal names the flag that allows more", async () => {
    const { code, answer, notes } = await shell(`touch here '${outside}/there'`);
    expect({ code, notes }).toEqual({ code: 0, notes: "" });
    expect(answer.stderr).toMatch(/\[sandbox: commands can write only in .*--root DIR\]$/);
    expect([existsSync(join(folder, "here")), existsSync(join(outside, "there"))]).toEqual([true, false]);
    const allowed = await shell(`touch '${outside}/by-root'`, ["--root", ".", "--root", outside]);
    expect(allowed.answer).toEqual({ stdout: "", stderr: "", exit_code: 0 });
  });

  test.runIf(works)("hides the folder in which the command keeps what the user has allowed", async () => {
    const [consents, forged] = ["state/toolcrib/consents", "forged/toolcrib/consents"];
    await toolcrib(["mcp", "add", "time", "date"]);
    const [kept = ""] = readdirSync(join(folder, consents));
    const line = `mkdir -p ${consents}; cp -r state forged; cat ${consents}/*; echo bad > ${consents}/${kept}; mv state away; true`;
    expect((await shell(line)).notes).toMatch(/Permission denied: .*toolcrib stores the user's answers/);
    // Written so that nobody can read what it would do.
    const { answer } = await shell(`eval "$(echo ${Buffer.from(line).toString("base64")} | base64 -d)"`);
    expect(answer.stdout).toBe("");
    expect(existsSync(join(folder, forged))).toBe(false);
    expect(readdirSync(join(folder, consents))).toEqual([kept]);
    expect(readFileSync(join(folder, consents, kept), "utf8")).toContain("time");
  });

  test.runIf(works)("hides the folder of the user's own configuration, where a root holds it", async () => {
    const env = { XDG_CONFIG_HOME: join(folder, "config") };
    await toolcrib(["config", "set", "maxSteps", "7"], env);
    const kept = join(folder, "config", "toolcrib", "config.json");
    const line = `cat ${kept}; echo '{"mode":"full"}' > ${kept}; mv config away; true`;
    const { answer } = await shell(`eval "$(echo ${Buffer.from(line).toString("base64")} | base64 -d)"`, [], env);
    expect(answer.stdout).toBe("");
    expect(JSON.parse(readFileSync(kept, "utf8"))).toEqual({ maxSteps: 7 });
  });

  test.runIf(works)("hides what --deny keeps from being read, also from a program that nobody has read", async () => {
    writeFileSync(join(folder, ".env"), "TOKEN=secret-value\n");
    writeFileSync(join(folder, "print.sh"), "cat .env; cat .e*\n");
    const flags = ["--deny", "effect:read(.env)"];
    const { answer } = await shell("sh ./print.sh", flags);
    expect(answer.stdout).not.toContain("secret-value");
    expect((await shell("cat .env", flags)).notes).toMatch(
      /Permission denied: .*the rule effect:read\(\.env\) denies it/,
    );
    expect((await shell("sh ./print.sh")).answer.stdout).toContain("secret-value");
  });

  test.runIf(works)("--sandbox-allow allows what it names", async () => {
    const interfaces = "cat /proc/net/dev | wc -l";
    const closed = Number((await shell(interfaces)).answer.stdout);
    const open = Number((await shell(interfaces, ["--sandbox-allow", "network"])).answer.stdout);
    expect(open).toBeGreaterThanOrEqual(closed);
    expect((await shell("readlink /proc/self/ns/net", ["--sandbox-allow", "network,sockets"])).answer.stdout).toBe(
      (await shell("readlink /proc/self/ns/net", ["--no-sandbox"])).answer.stdout,
    );
  });

  test.runIf(works)("keeps protected paths but what --sandbox-allow names", async () => {
    for (const name of [".envrc", "AGENTS.md"]) writeFileSync(join(folder, name), "kept");
    writeFileSync(join(folder, "change.sh"), "echo new > .envrc; echo new > AGENTS.md\n");
    const { answer } = await shell("sh ./change.sh");
    expect(answer.stderr).toMatch(/cannot change .*\.envrc.*; the user can allow a path by --sandbox-allow PATH\]$/);
    await shell("sh ./change.sh", ["--sandbox-allow", ".envrc"]);
    const [changed, kept] = [".envrc", "AGENTS.md"].map((name) => readFileSync(join(folder, name), "utf8"));
    expect([changed, kept]).toEqual(["new\n", "kept"]);
  });

  test("--no-sandbox runs commands without it and prints no note", async () => {
    const { answer, notes } = await shell(`touch '${outside}/free'`, ["--no-sandbox"], without);
    expect({ ...answer, notes }).toEqual({
      stdout: "",
      stderr: expect.any(String) as string,
      exit_code: 127,
      notes: "",
    });
    expect((await shell(`touch '${outside}/free'`, ["--no-sandbox"])).answer.exit_code).toBe(0);
    expect(existsSync(join(outside, "free"))).toBe(true);
  });

  test("that is not available is a note, or an error before anything runs where a flag asks for it", async () => {
    const told = await shell("echo fine", [], without);
    expect(told.answer.stdout).toBe("fine\n");
    expect(told.notes).toMatch(/^Commands run without a sandbox: bwrap [^\n]*\n$/);
    for (const flags of [["--sandbox"], ["--sandbox-allow", "network"]]) {
      const refused = await shell(`echo > '${folder}/ran'`, flags, without);
      expect(refused).toMatchObject({ code: 2, answer: undefined });
      expect(refused.notes).toMatch(/^toolcrib: the sandbox is not available: .*--no-sandbox/);
    }
    expect(existsSync(join(folder, "ran"))).toBe(false);
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
