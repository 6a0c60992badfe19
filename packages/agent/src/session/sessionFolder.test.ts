import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { Agent } from "../agent.ts";
import { ScriptedProvider } from "../testing.ts";
import { newSessionFile } from "./listSessions.ts";
import { SessionFolder } from "./sessionFolder.ts";

let sessions: SessionFolder;
beforeEach(() => {
  sessions = new SessionFolder(join(temporaryFolder("session-folder"), "sessions"));
});

const dayMs = 24 * 60 * 60 * 1000;

/** A session that was changed `days` ago, with something of every kind beside it. */
async function hold(days: number, bytes = 10): Promise<string> {
  const journal = newSessionFile(sessions.path);
  await new Agent(new ScriptedProvider(["Hello."]), { journal }).chat(`${days} days ago`);
  const [outputs = "", undo = ""] = [sessions.outputsOf(journal), sessions.undoOf(journal)];
  for (const folder of [outputs, join(undo, "000001")]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(outputs, "long.txt"), "x".repeat(bytes));
  writeFileSync(join(undo, "000001", "1"), "old");
  writeFileSync(join(undo, "note"), "note");
  writeFileSync(journal.replace(/\.jsonl$/, ".json"), "{}");
  const then = (Date.now() - days * dayMs) / 1000;
  utimesSync(journal, then, then);
  return journal;
}

/** Every file left of a session. */
function left(journal: string): string[] {
  const name = basename(journal, ".jsonl");
  return readdirSync(sessions.path, { recursive: true })
    .map(String)
    .filter((path) => path.includes(name));
}

describe("find", () => {
  test("takes a number of the list, an id, the beginning of one, or a file's name", async () => {
    const [old, young] = [await hold(2), await hold(1)];
    const [first, second] = await sessions.list();
    expect([first?.file, second?.file]).toEqual([young, old]);
    expect(first?.id).toMatch(/^[0-9a-f]{6}$/);
    expect(first?.bytes).toBe(statSync(young).size);
    const { id = "" } = second ?? {};
    for (const text of ["2", id, basename(old), basename(old, ".jsonl"), old])
      expect((await sessions.find(text))?.file).toBe(old);
    // Long enough that the other has none like it.
    const own = id.slice(0, 5);
    if (!first?.id.startsWith(own) && !/^\d+$/.test(own)) expect((await sessions.find(own))?.file).toBe(old);
    for (const text of ["0", "3", "", "none", "..", "/etc/passwd"]) expect(await sessions.find(text)).toBeUndefined();
  });

  test("an id holds when other sessions come and go, and a name of one's own is its id", async () => {
    const journal = join(sessions.path, "lunch.jsonl");
    await new Agent(new ScriptedProvider(["Hello."]), { journal }).chat("Hi");
    const other = await hold(0);
    const { id = "" } = (await sessions.find("2")) ?? {};
    await sessions.remove({ file: other });
    expect(id === "lunch" ? id : (await sessions.find("1"))?.id).toBe("lunch");
    expect((await sessions.find("lunch"))?.file).toBe(journal);
  });

  test("a beginning that two ids have is none", async () => {
    for (const id of ["abc111", "abc222"])
      await new Agent(new ScriptedProvider(["Hello."]), {
        journal: join(sessions.path, `2026-01-01T00-00-00-${id}.jsonl`),
      }).chat("Hi");
    expect(await sessions.find("abc")).toBeUndefined();
    expect((await sessions.find("abc1"))?.id).toBe("abc111");
  });
});

describe("what is removed", () => {
  test("goes with all that is kept beside it, and nothing else", async () => {
    const [one, other] = [await hold(0), await hold(0)];
    const before = left(other);
    await sessions.remove({ file: one });
    expect(left(one)).toEqual([]);
    expect(left(other)).toEqual(before);
    await expect(sessions.remove({ file: join(sessions.path, "..", "x.jsonl") })).rejects.toThrow("is not a session");
  });

  test("never what a program holds", async () => {
    const journal = await hold(400);
    const lock = await sessions.lock(journal);
    await expect(sessions.remove({ file: journal })).rejects.toMatchObject({ code: "busy" });
    await expect(sessions.lock(journal)).rejects.toMatchObject({ code: "busy" });
    expect(await sessions.prune({ maxBytes: 0 })).toEqual({ sessions: 0, bytes: 0 });
    expect(existsSync(journal)).toBe(true);
    lock?.release();
    expect(await new SessionFolder(`${sessions.path}/`).prune()).toMatchObject({ sessions: 1 });
    expect(left(journal)).toEqual([]);
  });

  test("by age: what was not changed for 90 days", async () => {
    const [old, young] = [await hold(91), await hold(89)];
    expect(await sessions.prune()).toMatchObject({ sessions: 1 });
    expect(left(old)).toEqual([]);
    expect((await sessions.list()).map(({ file }) => file)).toEqual([young]);
    expect(await sessions.prune({ maxAgeDays: 80 })).toMatchObject({ sessions: 1 });
    expect(await sessions.prune()).toEqual({ sessions: 0, bytes: 0 });
  });

  test("by size: the oldest go until the rest fits, outputs and old content counted", async () => {
    const [oldest, middle, youngest] = [await hold(3, 5000), await hold(2, 5000), await hold(1, 5000)];
    const pruned = await sessions.prune({ maxBytes: 12_000 });
    expect(pruned.sessions).toBe(1);
    expect(pruned.bytes).toBeGreaterThan(5000);
    expect(left(oldest)).toEqual([]);
    expect((await sessions.list()).map(({ file }) => file)).toEqual([youngest, middle]);
  });

  test("what lies beside a journal that is gone, but no folder that is not ours", () => {
    const put = (...names: string[]): void => void mkdirSync(join(sessions.path, ...names), { recursive: true });
    put("outputs", "a");
    put("outputs", "b", "not ours");
    put("undo", "a", "000001");
    put("undo", "c", "not ours");
    put("outputs", "d");
    writeFileSync(join(sessions.path, "outputs", "a", "x.txt"), "x");
    writeFileSync(join(sessions.path, "undo", "a", "000001", "1"), "x");
    writeFileSync(join(sessions.path, "d.jsonl"), "");
    sessions.removeLost();
    expect(readdirSync(sessions.outputs).sort()).toEqual(["b", "d"]);
    expect(readdirSync(join(sessions.path, "undo"))).toEqual(["c"]);
  });

  test("nothing where there is no folder", async () => {
    expect(await sessions.list()).toEqual([]);
    expect(await sessions.prune()).toEqual({ sessions: 0, bytes: 0 });
    sessions.removeLost();
    expect(existsSync(sessions.path)).toBe(false);
  });
});

test("a journal elsewhere has nothing beside it here", () => {
  expect(sessions.outputsOf("/elsewhere/one.jsonl")).toBeUndefined();
  expect(sessions.undoOf(undefined)).toBeUndefined();
  expect(sessions.outputsOf(join(sessions.path, "one.jsonl"))).toBe(join(sessions.outputs, "one"));
});
