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
import { fileURLToPath } from "node:url";
import { compileCache, type ProgramEnd, sharedCommand, startProgram, temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { stateFolder } from "./stateFolder.ts";

const bin = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));
const command = sharedCommand(bin);
const list = ["run", "list .", "-m", "offline"];
let folder = "";
let state = "";

beforeEach(() => {
  const base = temporaryFolder("state");
  folder = join(base, "work");
  state = join(base, "state");
  mkdirSync(folder);
  writeFileSync(join(folder, "a.txt"), "hello\n");
});

const toolcrib = (args: readonly string[], env: Record<string, string> = {}, input?: string): Promise<ProgramEnd> =>
  command(args, { cwd: folder, env: { XDG_STATE_HOME: state, ...env }, ...(input !== undefined && { input }) });

function journals(): string[] {
  const sessions = join(state, "toolcrib", "sessions");
  const [own = ""] = readdirSync(sessions);
  return readdirSync(join(sessions, own)).map((name) => join(sessions, own, name));
}

describe("where state is kept", () => {
  test.each([
    [{ XDG_STATE_HOME: "/x/state" }, "/x/state/toolcrib"],
    [{ XDG_STATE_HOME: "relative" }, undefined],
    [{ XDG_STATE_HOME: "" }, undefined],
  ])("with %j", (env, expected) => {
    const folder = stateFolder(env);
    if (expected) expect(folder).toBe(expected);
    expect(folder).toMatch(/^\/.*\/toolcrib$/);
  });

  test.each([[{ HOME: "" }], [{ HOME: "relative" }]])("%j does not lead into the working directory", async (home) => {
    // Kept elsewhere for the test by the one thing that is left: no folder can be made below a file.
    const { code, stdout } = await toolcrib(list, { ...home, XDG_STATE_HOME: "/dev/null/x" });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("a.txt") });
    const print = `import { stateFolder } from ${JSON.stringify(new URL("./stateFolder.ts", import.meta.url).href)}; console.log(stateFolder({}))`;
    const printed = execFileSync(process.execPath, ["--input-type=module-typescript", "-e", print], {
      env: { PATH: process.env.PATH, ...home },
      cwd: new URL(".", import.meta.url),
    });
    expect(String(printed)).toMatch(/^\/.*\/toolcrib\n$/);
    expect(String(printed)).not.toContain(process.cwd());
    expect(readdirSync(folder)).toEqual(["a.txt"]);
  });

  test("folders and files are readable by the user only, also those made with wider permissions before", async () => {
    mkdirSync(join(state, "toolcrib", "sessions"), { recursive: true });
    chmodSync(join(state, "toolcrib", "sessions"), 0o755);
    await toolcrib(list);
    const [journal = ""] = journals();
    const modes = [journal, join(journal, ".."), join(journal, "..", ".."), join(state, "toolcrib")].map(
      (path) => statSync(path).mode & 0o777,
    );
    expect(modes).toEqual([0o600, 0o700, 0o700, 0o700]);
  });

  test.each(["toolcrib", "toolcrib/sessions"])(
    "a link in place of %s is not followed, and the request is answered",
    async (name) => {
      const elsewhere = join(folder, "..", "elsewhere");
      mkdirSync(elsewhere);
      mkdirSync(join(state, name, ".."), { recursive: true });
      symlinkSync(elsewhere, join(state, name));
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
  const blocks = Math.ceil(statSync(journal).size / 1024);
  const command = `trap '' XFSZ; ulimit -f ${blocks}; exec "$@"`;
  const printed = execFileSync(
    "bash",
    ["--norc", "-c", `${command} 2>&1`, "bash", process.execPath, bin, ...list, "-r", journal],
    {
      cwd: folder,
      env: { PATH: process.env.PATH, ...compileCache, XDG_STATE_HOME: state },
      // More than what is left of the last block.
      input: "note ".repeat(400),
    },
  ).toString();
  expect(printed.match(/The conversation continues without being saved/g)).toHaveLength(1);
  expect(printed).toContain("a.txt");
});

describe("a journal is used by one program at a time", () => {
  test("a journal that another program holds is not continued; a new conversation is started", async () => {
    await toolcrib(list);
    const [journal = ""] = journals();
    const before = readFileSync(journal, "utf8");
    const first = startProgram(bin, ["chat", "-c", "-m", "offline"], {
      cwd: folder,
      env: { XDG_STATE_HOME: state },
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
    const chat = startProgram(bin, ["chat", "-c", "-m", "offline"], {
      cwd: folder,
      env: { XDG_STATE_HOME: state },
      input: "open",
    });
    await chat.printed("/help lists commands");
    chat.child.stdin?.write("/resume 2\n");
    await chat.printed("broken.jsonl");
    expect((await toolcrib([...list, "-r", journal])).stderr).toMatch(/is open in another toolcrib/);
    chat.child.stdin?.end();
    expect((await chat.ended).code).toBe(0);
    expect((await toolcrib([...list, "-r", journal])).code).toBe(0);
  });
});

test("a working directory that was removed is reported in one sentence", async () => {
  const command = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"';
  for (const args of [["demo"], list, ["tools", "list"], ["mcp", "list"]]) {
    const run = execFileSync(
      "bash",
      ["--norc", "-c", `(${command}) 2>&1; echo "exit $?"`, "bash", process.execPath, bin, ...args],
      {
        cwd: folder,
        env: { PATH: process.env.PATH, ...compileCache, XDG_STATE_HOME: state },
      },
    );
    expect(String(run)).toBe("toolcrib: the working directory was removed; change to another one\nexit 2\n");
  }
});

test("the demo works without a folder for temporary files", async () => {
  const { code, stdout, stderr } = await toolcrib(["demo"], { TMPDIR: "/dev/null/x" });
  expect(stderr).toMatch(/No folder can be created in \/dev\/null\/x \(TMPDIR\)/);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("# Survey of .") });
});

test("a named pipe as .mcp.json is refused, not waited for", async () => {
  execFileSync("mkfifo", [join(folder, ".mcp.json")]);
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
