import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { compileCache, type ProgramEnd, startProgram } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { bin, command, homeFor } from "../../fixtures/command.ts";
import { findFolders } from "./folders.ts";

const list = ["run", "list .", "-m", "offline"];
const home = homeFor("state");
beforeEach(() => home.write("work/a.txt", "hello\n"));
const toolcrib = (args: readonly string[], env: Record<string, string> = {}): Promise<ProgramEnd> =>
  home.toolcrib(args, { env });

function journals(): string[] {
  const sessions = join(home.state, "toolcrib", "sessions");
  const [own = ""] = readdirSync(sessions);
  return readdirSync(join(sessions, own)).map((name) => join(sessions, own, name));
}

describe("where state is kept", () => {
  test.each([
    [{ XDG_STATE_HOME: "/x/state" }, "/x/state/toolcrib"],
    [{ XDG_STATE_HOME: "relative" }, undefined],
    [{ XDG_STATE_HOME: "" }, undefined],
  ])("with %j", (env, expected) => {
    const found = findFolders(env).state;
    if (expected) expect(found).toBe(expected);
    expect(found).toMatch(/^\/.*\/toolcrib$/);
  });

  test.each([[{ HOME: "" }], [{ HOME: "relative" }]])("%j does not lead into the working directory", async (none) => {
    // Kept elsewhere for the test by the one thing that is left: no folder can be made below a file.
    const { code, stdout } = await toolcrib(list, { ...none, XDG_STATE_HOME: "/dev/null/x" });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("a.txt") });
    const print = `import { findFolders } from ${JSON.stringify(new URL("./folders.ts", import.meta.url).href)}; console.log(findFolders({}).state)`;
    const printed = execFileSync(process.execPath, ["--input-type=module-typescript", "-e", print], {
      env: { PATH: process.env.PATH, ...none },
      cwd: new URL(".", import.meta.url),
    });
    expect(String(printed)).toMatch(/^\/.*\/toolcrib\n$/);
    expect(String(printed)).not.toContain(process.cwd());
    expect(readdirSync(home.folder)).toEqual(["a.txt"]);
  });

  test("folders and files are readable by the user only, also those made with wider permissions before", async () => {
    mkdirSync(join(home.state, "toolcrib", "sessions"), { recursive: true });
    chmodSync(join(home.state, "toolcrib", "sessions"), 0o755);
    await toolcrib(list);
    const [journal = ""] = journals();
    const modes = [journal, join(journal, ".."), join(journal, "..", ".."), join(home.state, "toolcrib")].map(
      (path) => statSync(path).mode & 0o777,
    );
    expect(modes).toEqual([0o600, 0o700, 0o700, 0o700]);
  });

  test.each(["toolcrib", "toolcrib/sessions"])(
    "a link in place of %s is not followed, and the request is answered",
    async (name) => {
      const elsewhere = join(home.base, "elsewhere");
      mkdirSync(elsewhere);
      mkdirSync(join(home.state, name, ".."), { recursive: true });
      symlinkSync(elsewhere, join(home.state, name));
      const { code, stderr } = await toolcrib(list);
      expect(stderr).toMatch(/could not be saved: .* is a link or a file/);
      expect({ code, made: readdirSync(elsewhere) }).toEqual({ code: 0, made: [] });
    },
  );
});

test("a journal that cannot be written in the middle of a turn is one warning, and the conversation goes on", async () => {
  await toolcrib(list);
  const [journal = ""] = journals();
  // A limit on the size of files, as a full disk would be.
  const blocks = Math.ceil(statSync(journal).size / 512);
  const command = `trap '' XFSZ; ulimit -f ${blocks}; exec "$@"`;
  const printed = execFileSync("sh", ["-c", `${command} 2>&1`, "sh", process.execPath, bin, ...list, "-r", journal], {
    cwd: home.folder,
    env: { PATH: process.env.PATH, ...compileCache, XDG_STATE_HOME: home.state },
    // More than what is left of the last block.
    input: "note ".repeat(400),
  }).toString();
  expect(printed.match(/The conversation continues without being saved/g)).toHaveLength(1);
  expect(printed).toContain("a.txt");
});

describe("a journal is used by one program at a time", () => {
  test("a journal that another program holds is not continued; a new conversation is started", async () => {
    await toolcrib(list);
    const [journal = ""] = journals();
    const before = readFileSync(journal, "utf8");
    const first = startProgram(bin, ["chat", "-c", "-m", "offline"], {
      cwd: home.folder,
      env: home.env,
      input: "open",
    });
    await first.printed("/help lists commands");
    for (const args of [
      [...list, "-c"],
      [...list, "-r", journal],
    ]) {
      const { code, stderr } = await toolcrib(args);
      expect(stderr).toMatch(/is open in another toolcrib; end that one, or start a new conversation/);
      expect(code).toBe(1);
    }
    expect(readFileSync(journal, "utf8")).toBe(before);
    expect((await toolcrib(list)).code).toBe(0);
    first.child.kill("SIGKILL");
    await first.ended;
    // The crash left the lock: it is taken over.
    expect((await toolcrib([...list, "-r", journal])).code).toBe(0);
    expect(journals().some((name) => name.endsWith(".lock"))).toBe(false);
  });

  test("a conversation that cannot be resumed leaves the journal of the present one held", async () => {
    await toolcrib(list);
    const [journal = ""] = journals();
    const broken = join(journal, "..", "broken.jsonl");
    writeFileSync(broken, '{"type":"session","version":99}\n');
    utimesSync(broken, 0, 0);
    const chat = command.start(["chat", "-c", "-m", "offline"], { cwd: home.folder, env: home.env, input: "open" });
    await chat.printed("/help lists commands");
    chat.stdin.write("/resume 2\n");
    await chat.printed("broken.jsonl");
    expect((await toolcrib([...list, "-r", journal])).stderr).toMatch(/is open in another toolcrib/);
    chat.stdin.end();
    expect((await chat.ended).code).toBe(0);
    expect((await toolcrib([...list, "-r", journal])).code).toBe(0);
  });
});

test("a working directory that was removed is reported in one sentence", async () => {
  const command = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"';
  const words = ["-c", `(${command}) 2>&1; echo "exit $?"`, "sh", process.execPath, bin, ...list];
  const env = { PATH: process.env.PATH, ...compileCache, XDG_STATE_HOME: home.state };
  const printed = execFileSync("sh", words, { cwd: home.folder, env });
  expect(String(printed)).toBe("toolcrib: the working directory was removed; change to another one\nexit 2\n");
});

test("the demo works without a folder for temporary files", async () => {
  const { code, stdout, stderr } = await toolcrib(["demo"], { TMPDIR: "/dev/null/x" });
  expect(stderr).toMatch(/No folder can be created in \/dev\/null\/x \(TMPDIR\)/);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("# Survey of .") });
});

test("a named pipe as .mcp.json is refused, not waited for", async () => {
  execFileSync("mkfifo", [home.at(".mcp.json")]);
  for (const args of [
    ["mcp", "list"],
    ["mcp", "add", "a", "b"],
    ["mcp", "test"],
    [...list, "--mcp"],
  ]) {
    const { code, stderr } = await toolcrib(args);
    expect(stderr).toMatch(/\.mcp\.json: it is a named pipe; name a regular file/);
    expect(code).toBe(2);
  }
});
