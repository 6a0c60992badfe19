import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sandboxProblem } from "@toolcrib/tools-bash";
import { describe, expect, test } from "vitest";
import { sandboxFolders } from "../../fixtures/sandboxed.ts";

const works = (await sandboxProblem()) === undefined;

const { folders, toolcrib, shell } = sandboxFolders();

describe.runIf(works)("the sandbox of run_bash", () => {
  test("is on by default, and a refusal names the flag that allows more", async () => {
    const { code, answer, notes } = await shell(`touch here '${folders.outside}/there'`);
    expect({ code, notes }).toEqual({ code: 0, notes: "" });
    expect(answer.stderr).toMatch(/\[sandbox: commands can write only in .*--root DIR\]$/);
    expect([existsSync(join(folders.folder, "here")), existsSync(join(folders.outside, "there"))]).toEqual([
      true,
      false,
    ]);
    const allowed = await shell(`touch '${folders.outside}/by-root'`, ["--root", ".", "--root", folders.outside]);
    expect(allowed.answer).toEqual({ stdout: "", stderr: "", exit_code: 0 });
  });

  test("hides the folder in which the command keeps what the user has allowed", async () => {
    const [kept, forged] = ["state/toolcrib/trust.json", "forged/toolcrib/trust.json"];
    await toolcrib(["mcp", "add", "time", "date"]);
    const text = readFileSync(join(folders.folder, kept), "utf8");
    expect(JSON.parse(text).answers).not.toEqual({});
    const line = `cp -r state forged; cat ${kept}; echo bad > ${kept}; mv state away; true`;
    expect((await shell(line)).notes).toMatch(/Permission denied: .*toolcrib stores the user's answers/);
    // Written so that nobody can read what it would do.
    const { answer } = await shell(`eval "$(echo ${Buffer.from(line).toString("base64")} | base64 -d)"`);
    expect(answer.stdout).toBe("");
    expect(existsSync(join(folders.folder, forged))).toBe(false);
    expect(readFileSync(join(folders.folder, kept), "utf8")).toBe(text);
  });

  test("hides the folder of the user's own configuration, where a root holds it", async () => {
    const env = { XDG_CONFIG_HOME: join(folders.folder, "config") };
    await toolcrib(["config", "set", "maxSteps", "7"], env);
    const kept = join(folders.folder, "config", "toolcrib", "config.json");
    const line = `cat ${kept}; echo '{"mode":"full"}' > ${kept}; mv config away; true`;
    const { answer } = await shell(`eval "$(echo ${Buffer.from(line).toString("base64")} | base64 -d)"`, [], env);
    expect(answer.stdout).toBe("");
    expect(JSON.parse(readFileSync(kept, "utf8"))).toEqual({ maxSteps: 7 });
  });

  test("hides what --deny keeps from being read, also from a program that nobody has read", async () => {
    writeFileSync(join(folders.folder, ".env"), "TOKEN=secret-value\n");
    writeFileSync(join(folders.folder, "print.sh"), "cat .env; cat .e*\n");
    const flags = ["--deny", "effect:read(.env)"];
    const { answer } = await shell("sh ./print.sh", flags);
    expect(answer.stdout).not.toContain("secret-value");
    expect((await shell("cat .env", flags)).notes).toMatch(
      /Permission denied: .*the rule effect:read\(\.env\) denies it/,
    );
    expect((await shell("sh ./print.sh")).answer.stdout).toContain("secret-value");
  });

  test("--sandbox-allow allows what it names", async () => {
    const interfaces = "cat /proc/net/dev | wc -l";
    const closed = Number((await shell(interfaces)).answer.stdout);
    const open = Number((await shell(interfaces, ["--sandbox-allow", "network"])).answer.stdout);
    expect(open).toBeGreaterThanOrEqual(closed);
    expect((await shell("readlink /proc/self/ns/net", ["--sandbox-allow", "network,sockets"])).answer.stdout).toBe(
      (await shell("readlink /proc/self/ns/net", ["--no-sandbox"])).answer.stdout,
    );
  });

  test("keeps protected paths but what --sandbox-allow names", async () => {
    for (const name of [".envrc", "AGENTS.md"]) writeFileSync(join(folders.folder, name), "kept");
    writeFileSync(join(folders.folder, "change.sh"), "echo new > .envrc; echo new > AGENTS.md\n");
    const { answer } = await shell("sh ./change.sh");
    expect(answer.stderr).toMatch(/cannot change .*\.envrc.*; the user can allow a path by --sandbox-allow PATH\]$/);
    await shell("sh ./change.sh", ["--sandbox-allow", ".envrc"]);
    const [changed, kept] = [".envrc", "AGENTS.md"].map((name) => readFileSync(join(folders.folder, name), "utf8"));
    expect([changed, kept]).toEqual(["new\n", "kept"]);
  });

  test("hides the logins at servers, inside the roots and outside of them", async () => {
    const logins = join(folders.folder, "state", "toolcrib", "logins.json");
    mkdirSync(join(logins, ".."), { recursive: true, mode: 0o700 });
    writeFileSync(logins, '{ "logins": { "https://x": { "accessToken": "access-1" } } }', { mode: 0o600 });
    for (const root of [folders.folder, join(folders.folder, "state"), folders.outside])
      for (const command of [`cat ${logins}`, `cd ${folders.folder}/state && cat */logins.json`]) {
        const { answer, notes } = await shell(command, ["--root", root, "--mode", "full"]);
        expect(`${answer?.stdout}${answer?.stderr}${notes}`, command).not.toContain("access-1");
      }
  });
});
