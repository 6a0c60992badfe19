import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Agent } from "../agent.ts";
import { ScriptedProvider } from "../testing.ts";
import { listSessions } from "./listSessions.ts";
import { createSaveSessionContextTool } from "./sessionContext.ts";

let work: string;
let outside: string;
beforeEach(() => {
  const folder = temporaryFolder("planted");
  work = join(folder, "work");
  outside = join(folder, "outside");
  for (const each of [work, outside]) mkdirSync(each);
  writeFileSync(join(outside, "victim"), "precious", { mode: 0o644 });
});
afterEach(() => {
  vi.restoreAllMocks();
});

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

function save(sessionContextFilePath: string): Promise<string> {
  const tool = createSaveSessionContextTool({ systemPrompt: "", sessionContext: [], sessionContextFilePath });
  return tool.execute({ reason: "r" });
}

function converse(journal: string): Promise<string> {
  return new Agent(new ScriptedProvider(["hello"]), { journal }).chat("hi");
}

/** Links that a folder of somebody else may hold: the link, the place outside that it leads to, and the session's path through it. */
const plants: [what: string, to: string, link: string, path: string][] = [
  ["the file itself", "victim", "session.json", "session.json"],
  ["the file, to nothing yet", "new", "session.json", "session.json"],
  ["its folder", "", ".toolcrib", ".toolcrib/session.json"],
  ["a folder further up", "", "a", "a/b/.toolcrib/session.json"],
];

describe.each(plants)("a link planted as %s", (_, to, link, relative) => {
  test.each([
    ["save_session_context", save, "permission_denied"],
    ["a journal", converse, "bad_session"],
  ])("is not written through by %s", async (_name, write, code) => {
    symlinkSync(join(outside, to), join(work, link));
    vi.spyOn(process, "cwd").mockReturnValue(work);
    for (const path of [relative, join(work, relative)]) {
      await expect(write(path)).rejects.toMatchObject({ code, message: expect.stringContaining("is a symbolic link") });
    }
    expect(readdirSync(outside)).toEqual(["victim"]);
    expect(readFileSync(join(outside, "victim"), "utf8")).toBe("precious");
  });
});

test("outside the working directory too, neither the file nor its folder may be a link", async () => {
  symlinkSync(outside, join(work, ".toolcrib"));
  symlinkSync(join(outside, "victim"), join(work, "session.json"));
  for (const name of [".toolcrib/session.json", "session.json"]) {
    await expect(save(join(work, name))).rejects.toMatchObject({ code: "permission_denied" });
    await expect(converse(join(work, name))).rejects.toMatchObject({ code: "bad_session" });
  }
  expect(readdirSync(outside)).toEqual(["victim"]);
});

test("a link on the way to a folder that the user chose is followed", async () => {
  symlinkSync(outside, join(work, "data"));
  await save(join(work, "data", "toolcrib", "session.json"));
  await converse(join(work, "data", "toolcrib", "one.jsonl"));
  expect(readdirSync(join(outside, "toolcrib")).sort()).toEqual(["one.jsonl", "session.json"]);
});

describe("the effects of save_session_context", () => {
  const effects = (sessionContextFilePath: string) =>
    createSaveSessionContextTool({ systemPrompt: "", sessionContext: [], sessionContextFilePath }).effects?.({});

  test("are a write of its file, below the real folder; asking changes nothing", async () => {
    const path = join(work, "one", "session.json");
    expect(await effects(path)).toEqual([{ kind: "write", path }]);
    symlinkSync(outside, join(work, "data"));
    const givenPath = join(work, "data", "toolcrib", "session.json");
    expect(await effects(givenPath)).toEqual([
      { kind: "write", path: join(outside, "toolcrib", "session.json"), givenPath },
    ]);
    expect(readdirSync(work)).toEqual(["data"]);
    expect(readdirSync(outside)).toEqual(["victim"]);
  });

  test("throw what the call would throw", async () => {
    symlinkSync(join(outside, "victim"), join(work, "session.json"));
    const thrown = await save(join(work, "session.json")).catch((error: unknown) => error);
    await expect(effects(join(work, "session.json"))).rejects.toEqual(thrown);
  });
});

test.skipIf(process.platform === "win32")("only the owner can read sessions and their folders", async () => {
  const before = process.umask(0);
  try {
    await save(join(work, "one", "two", "session.json"));
    await converse(join(work, "three", "four", "j.jsonl"));
  } finally {
    process.umask(before);
  }
  for (const folder of ["one", "one/two", "three", "three/four"]) expect(modeOf(join(work, folder))).toBe("700");
  const [saved, journal] = [join(work, "one/two/session.json"), join(work, "three/four/j.jsonl")];
  for (const file of [saved, journal]) {
    expect(modeOf(file)).toBe("600");
    chmodSync(file, 0o644);
  }
  await save(saved);
  await (await Agent.resume(new ScriptedProvider(["ok"]), journal)).chat("on");
  for (const file of [saved, journal]) expect(modeOf(file)).toBe("600");
});

test("another name of the session's file keeps its content", async () => {
  linkSync(join(outside, "victim"), join(work, "session.json"));
  await save(join(work, "session.json"));
  expect(readFileSync(join(outside, "victim"), "utf8")).toBe("precious");
  expect(readFileSync(join(work, "session.json"), "utf8")).toContain("toolcrib-session");
});

describe("other than regular files", () => {
  const fifo = (): string => {
    const path = join(work, "pipe.jsonl");
    execFileSync("mkfifo", [path]);
    return path;
  };

  test.skipIf(process.platform === "win32")("a named pipe as a session is refused at once", async () => {
    const path = fifo();
    await expect(Agent.resume(new ScriptedProvider([]), path)).rejects.toMatchObject({
      code: "bad_session",
      message: expect.stringContaining("is a named pipe"),
    });
    await expect(save(path)).rejects.toThrow("is a named pipe");
  });

  test("a link, a device and a folder are refused by name", async () => {
    await converse(join(outside, "real.jsonl"));
    symlinkSync(join(outside, "real.jsonl"), join(work, "link.jsonl"));
    const refused: [string, RegExp][] = [
      [join(work, "link.jsonl"), /is a symbolic link/],
      [work, /is a directory/],
    ];
    if (existsSync("/dev/zero")) refused.push(["/dev/zero", /is a character device/]);
    for (const [path, message] of refused) {
      await expect(Agent.resume(new ScriptedProvider([]), path)).rejects.toMatchObject({
        code: "bad_session",
        message: expect.stringMatching(message),
      });
    }
  });

  test.skipIf(process.platform === "win32")("a listing leaves out pipes and links", async () => {
    fifo();
    await converse(join(outside, "real.jsonl"));
    symlinkSync(join(outside, "real.jsonl"), join(work, "link.jsonl"));
    await converse(join(work, "own.jsonl"));
    expect((await listSessions(work)).map(({ file }) => file)).toEqual([join(work, "own.jsonl")]);
  });
});
