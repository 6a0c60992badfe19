import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import fc from "fast-check";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createFsTools } from "./index.ts";
import { createUndo, describeUndone, type Undo, type UndoneTurn } from "./undo.ts";

type UndoOptions = Parameters<typeof createUndo>[0];

let root: string;
let directory: string;
let registry: ToolRegistry;
let undo: Undo;
let errors: Error[];

const at = (path: string): string => join(root, path);
const read = (path: string): string => readFileSync(at(path), "utf8");
const call = (name: string, args: object): Promise<string> => registry.execute(name, args);
const write = (path: string, content: string): Promise<string> => call("write_file", { path, content });

/** Lists a folder, with modes and the targets of links. */
function tree(): string[] {
  return readdirSync(root, { recursive: true })
    .map((name) => {
      const stats = lstatSync(at(String(name)));
      const what = stats.isSymbolicLink()
        ? `-> ${readlinkSync(at(String(name)))}`
        : stats.isFile()
          ? read(String(name))
          : "/";
      return `${name} ${(stats.mode & 0o7777).toString(8)} ${what}`;
    })
    .sort();
}

function open(options: Partial<UndoOptions> = {}): void {
  undo = createUndo({ directory, root, onError: (error) => errors.push(error), ...options });
  registry = new ToolRegistry();
  registry.register(...createFsTools({ cwd: root, root }));
  registry.use(undo.middleware);
}

/** In words short enough to compare. */
function said(undone: UndoneTurn | undefined): string[] {
  const short = (path: string): string => (path.startsWith(root) ? path.slice(root.length + 1) : path);
  return [
    ...(undone?.restored ?? []).map(({ how, path }) => `${how} ${short(path)}`),
    ...(undone?.left ?? []).map(({ path, reason }) => `left ${short(path)}: ${reason}`),
    ...(undone?.notUndoable ?? []).map(({ tool, what }) => `${tool}: ${what}`),
  ];
}

beforeEach(start);

function start(): void {
  const base = temporaryFolder("undo");
  root = join(base, "project");
  directory = join(base, "state/undo");
  mkdirSync(root);
  errors = [];
  open();
}

type Part = [path: string, to: string, kind: number];

/** A patch that adds, deletes, changes and moves files, as far as they are there. */
function patchOf(parts: readonly Part[]): string {
  const lines = parts.flatMap(([path, to, kind]) => {
    const first = existsSync(at(path)) && statSync(at(path)).isFile() ? read(path).split("\n", 1)[0] : "";
    const change = first === "" ? [] : ["@@", `-${first}`, `+${first}!`];
    if (kind === 0) return [`*** Add File: ${path}`, "+new"];
    if (kind === 1) return [`*** Delete File: ${path}`];
    return [`*** Update File: ${path}`, ...(kind === 2 ? [`*** Move to: ${to}`] : []), ...change];
  });
  return ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
}

describe("a turn is taken back", () => {
  test("written, edited, patched, moved and removed files, folders and links are as they were, with their modes", async () => {
    mkdirSync(at("tree/deep"), { recursive: true });
    for (const name of ["a", "b", "tree/one", "tree/deep/two", "old"]) writeFileSync(at(name), `${name}\n`);
    writeFileSync(at("bytes"), Buffer.from([0xff, 0, 13, 10]));
    chmodSync(at("tree/one"), 0o600);
    chmodSync(at("tree/deep"), 0o700);
    symlinkSync("b", at("link"));
    symlinkSync("one", at("tree/link"));
    const before = tree();
    const bytes = readFileSync(at("bytes"));
    undo.begin("a long day");
    await write("a", "1");
    await write("a", "2");
    await write("bytes", "text");
    await write("new/deeper/file", "new");
    await call("mkdir", { path: "empty/folder" });
    await call("apply_patch", {
      input:
        "*** Begin Patch\n*** Update File: b\n*** Move to: sub/c\n@@\n-b\n+c\n*** Delete File: link\n*** End Patch",
    });
    await call("remove", { path: "tree" });
    await call("move", { source: "old", destination: "far/away" });
    expect(existsSync(at("tree"))).toBe(false);
    expect(read("sub/c")).toBe("c\n");
    const undone = await undo.undo();
    expect(tree()).toEqual(before);
    expect(readFileSync(at("bytes"))).toEqual(bytes);
    expect(undone).toMatchObject({ turn: "a long day", left: [], notUndoable: [] });
    expect(said(undone)).toEqual(
      expect.arrayContaining(["moved old", "restored tree/deep/two", "removed new/deeper/file", "restored a"]),
    );
    expect(await undo.undo()).toBeUndefined();
    expect(errors).toEqual([]);
  });

  test("one after another, the last first, also by another process", async () => {
    for (const turn of ["one", "two", "three"]) {
      undo.begin(turn);
      await write("file", turn);
      await write(`${turn}.txt`, turn);
    }
    undo.begin("nothing");
    await call("read_file", { path: "file" });
    undo.begin("failing");
    await call("remove", { path: "missing" });
    await call("write_file", { path: "../outside", content: "" });
    open();
    expect((await undo.undo())?.turn).toBe("three");
    expect(read("file")).toBe("two");
    open();
    expect((await undo.undo())?.turn).toBe("two");
    expect(readdirSync(root).sort()).toEqual(["file", "one.txt"]);
    expect((await undo.undo())?.turn).toBe("one");
    expect(readdirSync(root)).toEqual([]);
    expect(await undo.undo()).toBeUndefined();
  });

  test("a folder is renamed back with all that has come into it since", async () => {
    mkdirSync(at("src/deep"), { recursive: true });
    writeFileSync(at("src/deep/one"), "1");
    undo.begin("rename");
    await call("move", { source: "src", destination: "lib/code" });
    await write("lib/code/deep/one", "2");
    writeFileSync(at("lib/code/mine"), "mine");
    expect(said(await undo.undo())).toEqual(["restored lib/code/deep/one", "moved src", "removed lib"]);
    expect(tree().map((line) => line.split(" ")[0])).toEqual(["src", "src/deep", "src/deep/one", "src/mine"]);
    expect(read("src/deep/one")).toBe("1");
  });

  test("whatever the tools did in several turns is as it was before", async () => {
    const name = fc.constantFrom("a", "b", "d", "d/x", "d/e", "d/e/z", "n", "n/m", "link");
    const step = fc.oneof(
      fc.tuple(fc.constant("write_file"), fc.record({ path: name, content: fc.string({ maxLength: 3 }) })),
      fc.tuple(fc.constantFrom("remove", "mkdir"), fc.record({ path: name })),
      fc.tuple(fc.constant("move"), fc.record({ source: name, destination: name })),
      fc.tuple(
        fc.constant("apply_patch"),
        fc.record({ parts: fc.array(fc.tuple(name, name, fc.nat(3)), { maxLength: 3 }) }),
      ),
    );
    const turns = fc.array(fc.array(step, { minLength: 3, maxLength: 9 }), { minLength: 1, maxLength: 3 });
    const run = async (calls: [name: string, args: object][][]): Promise<void> => {
      start();
      mkdirSync(at("d/e"), { recursive: true });
      for (const file of ["a", "d/e/z"]) writeFileSync(at(file), file);
      symlinkSync("a", at("link"));
      const before = tree();
      for (const [index, turn] of calls.entries()) {
        undo.begin(`turn ${index}`);
        for (const [tool, args] of turn)
          await call(tool, "parts" in args ? { input: patchOf(args.parts as Part[]) } : args);
      }
      for (let undone = await undo.undo(); undone; undone = await undo.undo()) expect(undone.left).toEqual([]);
      expect(tree()).toEqual(before);
    };
    await fc.assert(fc.asyncProperty(turns, run), { numRuns: 20, seed: 20_261_129 });
  });

  test("a hard link keeps its other name, and a file that others may not read stays so", async () => {
    writeFileSync(at("one"), "1");
    linkSync(at("one"), at("other"));
    writeFileSync(at("secret"), "s", { mode: 0o600 });
    undo.begin("links");
    await write("one", "2");
    await call("remove", { path: "secret" });
    await undo.undo();
    expect(read("other")).toBe("1");
    expect(statSync(at("one")).ino).toBe(statSync(at("other")).ino);
    expect(statSync(at("secret")).mode & 0o777).toBe(0o600);
  });

  test("calls side by side on one file", async () => {
    writeFileSync(at("file"), "0");
    undo.begin("both");
    await Promise.all([write("file", "1"), write("file", "2"), write("file", "3")]);
    expect(said(await undo.undo())).toEqual(["restored file"]);
    expect(read("file")).toBe("0");
  });
});

describe("what others have changed is kept", () => {
  const changed = "it was changed since by you or another program";

  test("a file changed, replaced, removed or made again after the call", async () => {
    for (const name of ["a", "b", "c", "d"]) writeFileSync(at(name), "old");
    undo.begin("four");
    for (const name of ["a", "b", "c", "new"]) await write(name, "tool");
    await call("remove", { path: "d" });
    appendFileSync(at("a"), "mine");
    chmodSync(at("b"), 0o755);
    rmSync(at("c"));
    writeFileSync(at("d"), "mine");
    appendFileSync(at("new"), "mine");
    const undone = await undo.undo();
    expect(said(undone)).toEqual(["d", "new", "c", "b", "a"].map((name) => `left ${name}: ${changed}`));
    expect(["a", "b", "d", "new"].map(read)).toEqual(["toolmine", "tool", "mine", "toolmine"]);
    expect(existsSync(at("c"))).toBe(false);
  });

  test("between two calls of the turn: what they wrote comes back, not what was before", async () => {
    writeFileSync(at("file"), "old");
    undo.begin("two calls");
    await write("file", "first");
    writeFileSync(at("file"), "mine");
    await write("file", "second");
    expect(said(await undo.undo())).toEqual(["restored file", `left file: ${changed}`]);
    expect(read("file")).toBe("mine");
  });

  test("a file in a folder that was made, and one in a tree that was removed", async () => {
    mkdirSync(at("gone"));
    for (const name of ["gone/one", "gone/two"]) writeFileSync(at(name), "old");
    undo.begin("folders");
    await call("mkdir", { path: "made" });
    await call("remove", { path: "gone" });
    writeFileSync(at("made/mine"), "mine");
    mkdirSync(at("gone"));
    writeFileSync(at("gone/one"), "mine");
    expect(said(await undo.undo())).toEqual([
      "restored gone/two",
      `left gone/one: ${changed}`,
      "left made: it holds something that the turn did not make",
    ]);
    expect([read("gone/one"), read("gone/two"), read("made/mine")]).toEqual(["mine", "old", "mine"]);
  });

  test("a turn of which nothing could be put back stays for one more try, and then the one before comes", async () => {
    writeFileSync(at("file"), "old");
    for (const turn of ["one", "two"]) {
      undo.begin(turn);
      await write("file", turn);
    }
    writeFileSync(at("file"), "mine");
    const first = await undo.undo();
    expect(first).toMatchObject({ turn: "two", isKept: true });
    expect(first && describeUndone(first, root)).toBe(
      `Nothing was taken back: two\n  left alone  file: ${changed}\nThe next undo tries this turn once more, then it goes further back.`,
    );
    expect(undo.takeNote()).toBeUndefined();
    writeFileSync(at("file"), "two");
    expect(said(await undo.undo())).toEqual(["restored file"]);
    expect(read("file")).toBe("one");
    writeFileSync(at("file"), "mine");
    for (const isKept of [true, undefined]) expect((await undo.undo())?.isKept).toBe(isKept);
    expect(undo.takeNote()).toContain("nothing could be");
    expect(await undo.undo()).toBeUndefined();
  });

  test("nothing is written through a link put in the place of a folder", async () => {
    mkdirSync(at("folder"));
    mkdirSync(at("elsewhere"));
    for (const name of ["folder/one", "elsewhere/one"]) writeFileSync(at(name), "tool");
    writeFileSync(at("folder/one"), "old");
    undo.begin("link");
    await write("folder/one", "tool");
    await write("folder/new", "tool");
    writeFileSync(at("elsewhere/new"), "tool");
    renameSync(at("folder"), at("away"));
    symlinkSync("elsewhere", at("folder"));
    const why = "a folder above it is now a link";
    expect(said(await undo.undo())).toEqual([`left folder/new: ${why}`, `left folder/one: ${why}`]);
    expect([read("elsewhere/one"), read("elsewhere/new")]).toEqual(["tool", "tool"]);
  });
});

describe("what was moved is lost nowhere, though its old place cannot have it again", () => {
  const content = "the only copy";
  const hasFar = existsSync("/dev/shm") && statSync("/dev/shm").dev !== statSync(tmpdir()).dev;
  let far: string;
  const begin = (): void => {
    start();
    const made = mkdtempSync(hasFar ? "/dev/shm/undo-" : join(root, "far-"));
    onTestFinished(() => rmSync(made, { recursive: true, force: true }));
    far = made;
    open({ root: [root, far] });
    registry = new ToolRegistry();
    registry.register(...createFsTools({ cwd: root, root: [root, far] }));
    registry.use(undo.middleware);
    mkdirSync(at("old/deep"), { recursive: true });
    writeFileSync(at("old/deep/file"), content);
    writeFileSync(at("other"), "other\n");
    undo.begin("move");
  };

  const patch = (...parts: string[]): Promise<string> =>
    call("apply_patch", { input: ["*** Begin Patch", ...parts, "*** End Patch"].join("\n") });
  const edited = ["*** Update File: old/deep/file", "*** Move to: new", "@@", `-${content}`, `+${content}!`];
  const moves: [string, () => Promise<string>, place: () => string][] = [
    ["a file", () => call("move", { source: "old/deep/file", destination: "new" }), () => at("new")],
    ["a file edited on the way", () => patch(...edited), () => at("new")],
    [
      "one file of a patch of several",
      () => patch("*** Add File: more", "+x", ...edited, "*** Update File: other", "@@", "-other", "+another"),
      () => at("new"),
    ],
    [
      "a file to another device",
      () => call("move", { source: "old/deep/file", destination: `${far}/new` }),
      () => join(far, "new"),
    ],
    ["a tree", () => call("move", { source: "old/deep", destination: "new" }), () => at("new/file")],
    [
      "a tree to another device",
      () => call("move", { source: "old/deep", destination: `${far}/new` }),
      () => join(far, "new/file"),
    ],
  ];
  const obstacles: [string, () => void][] = [
    ["a file has its name", () => writeFileSync(at("old/deep/file"), "mine")],
    ["a folder has its name", () => mkdirSync(at("old/deep/file/mine"), { recursive: true })],
    ["a link has its name", () => symlinkSync("nowhere", at("old/deep/file"))],
    [
      "a file is where its folder was",
      () => {
        rmSync(at("old"), { recursive: true });
        writeFileSync(at("old"), "mine");
      },
    ],
    [
      "a link is where its folder was",
      () => {
        mkdirSync(at("mine"));
        rmSync(at("old"), { recursive: true });
        symlinkSync("mine", at("old"));
      },
    ],
    [
      "the kept copies are damaged",
      () => {
        for (const name of readdirSync(directory, { recursive: true }).map(String))
          if (/[/]\d+$/.test(name)) writeFileSync(join(directory, name), "bad");
        writeFileSync(at("old/deep/file"), "mine");
      },
    ],
  ];

  test.each(moves)("%s", async (_, move, place) => {
    for (const [obstacle, obstruct] of obstacles) {
      begin();
      expect(await move()).toMatch(/Moved/);
      mkdirSync(at("old/deep"), { recursive: true });
      obstruct();
      const undone = await undo.undo();
      expect([obstacle, readFileSync(place(), "utf8")]).toEqual([obstacle, expect.stringContaining(content)]);
      expect(undone?.left).not.toEqual([]);
    }
    begin();
    await move();
    rmSync(at("old"), { recursive: true });
    expect((await undo.undo())?.left).toEqual([]);
    expect([read("old/deep/file"), existsSync(place())]).toEqual([content, false]);
  });

  test("a link in the place of a file stays, where the content of that was not kept", async () => {
    open({ maxFileBytes: 3 });
    writeFileSync(at("large"), content);
    const link = defineTool({
      name: "link",
      description: "Puts a link in the place of a file.",
      parameters: { type: "object", properties: {} },
      effects: () => [{ kind: "write", path: at("large") }],
      execute: () => {
        rmSync(at("large"));
        symlinkSync("other", at("large"));
        return "done";
      },
    });
    registry.register(link);
    undo.begin("link");
    await call("link", {});
    expect(said(await undo.undo())).toEqual(["left large: its old content was not saved: it is larger than 3 bytes"]);
    expect(readlinkSync(at("large"))).toBe("other");
  });
});

describe("what cannot be taken back is named", () => {
  test("commands, requests, and tools that do not say what they change; not those that only read", async () => {
    const parameters = { type: "object", properties: {} } as const;
    const make = (name: string, more: object) =>
      defineTool({ name, description: name, parameters, execute: () => "done", ...more });
    registry.register(
      make("shell", { effects: () => [{ kind: "execute", command: "npm install" }] }),
      make("post", { effects: () => [{ kind: "network", host: "example.org" }] }),
      make("silent", {}),
      make("look", { readOnly: true }),
      make("nothing", { effects: () => [] }),
      make("outside", { effects: () => [{ kind: "write", path: "/var/toolcrib-outside" }] }),
    );
    undo.begin("others");
    for (const name of registry.getToolNames()) if (name !== "look") await call(name, {});
    expect(said(await undo.undo())).toEqual([
      "left /var/toolcrib-outside: it is outside the directories of this undo",
      "shell: the effects of this command: npm install",
      "post: its requests to example.org",
      "silent: it does not say what it changes",
    ]);
  });

  test("a file or a tree that is too large is not kept, and a move of it needs no copy", async () => {
    open({ maxFileBytes: 10, maxBytes: 25 });
    writeFileSync(at("large"), "12345678901");
    for (const name of ["one", "two", "three"]) writeFileSync(at(name), "1234567890");
    undo.begin("large");
    await call("move", { source: "large", destination: "moved" });
    for (const name of ["one", "two", "three"]) await write(name, "");
    expect(said(await undo.undo())).toEqual([
      "restored two",
      "restored one",
      "moved large",
      "left three: its old content was not saved: what the turn changed is more than 25 bytes",
    ]);
    undo.begin("too large");
    await write("large", "");
    expect(said(await undo.undo())).toEqual(["left large: its old content was not saved: it is larger than 10 bytes"]);
  });

  test("a call in the middle of which the program ended is left alone", async () => {
    writeFileSync(at("file"), "old");
    const slow = defineTool({
      name: "slow",
      description: "Slow.",
      parameters: { type: "object", properties: {} },
      effects: () => [{ kind: "write", path: at("file") }],
      execute: () => {
        writeFileSync(at("file"), "half");
        return new Promise<string>(() => {});
      },
    });
    const other = new ToolRegistry();
    other.register(slow);
    other.use(undo.middleware);
    undo.begin("crash");
    void other.execute("slow", {}, { timeoutMs: Number.POSITIVE_INFINITY });
    await expect.poll(() => read("file")).toBe("half");
    await expect(undo.undo()).rejects.toThrow("A call still runs");
    open();
    const reason = "the program ended in the middle of the call, so nobody knows who wrote it";
    expect(said(await undo.undo())).toEqual([`left file: ${reason}`]);
    expect(read("file")).toBe("half");
  });
});

describe("what is kept", () => {
  test("is bounded in turns and bytes, the oldest going first", async () => {
    open({ maxTurns: 3, maxBytes: 40 });
    writeFileSync(at("file"), "0".repeat(10));
    for (let turn = 1; turn <= 6; turn += 1) {
      undo.begin(`turn ${turn}`);
      await write("file", String(turn).repeat(10));
    }
    expect(readdirSync(directory)).toHaveLength(3);
    undo.begin("large");
    await write("file", "x".repeat(30));
    undo.begin("larger");
    await write("file", "y");
    expect((await undo.undo())?.turn).toBe("larger");
    expect(read("file")).toBe("x".repeat(30));
  });

  test("can be read by the user alone", async () => {
    writeFileSync(at("file"), "old");
    undo.begin("one");
    await write("file", "new");
    const modes = [
      directory,
      ...readdirSync(directory, { recursive: true }).map((name) => join(directory, String(name))),
    ];
    expect(modes.length).toBeGreaterThan(3);
    for (const path of modes) expect(statSync(path).mode & 0o077).toBe(0);
  });

  test("no call fails because nothing can be kept; the user is told", async () => {
    writeFileSync(directory.replace("/undo", ""), "in the way");
    undo.begin("one");
    expect(await write("file", "new")).toContain("Created file");
    expect(errors[0]?.message).toContain("cannot be saved for undo");
    expect(undo.takeNote()).toBeUndefined();
    expect(errors[1]?.message).toContain("The saved changes cannot be read");
  });

  test("a damaged copy and a torn journal put nothing wrong back", async () => {
    writeFileSync(at("file"), "old");
    undo.begin("one");
    await write("file", "new");
    const [turn = ""] = readdirSync(directory);
    writeFileSync(join(directory, turn, "1"), "bad");
    appendFileSync(join(directory, turn, "turn.jsonl"), '{"type":"chan');
    open();
    expect(said(await undo.undo())).toEqual(["left file: the copy of its old content is damaged"]);
    expect(read("file")).toBe("new");
  });
});

test("people are told in lines", async () => {
  writeFileSync(at("a"), "1");
  writeFileSync(at("b"), "1");
  undo.begin("a\nturn");
  await call("move", { source: "a", destination: "c" });
  await write("b", "2");
  writeFileSync(at("b"), "3");
  const undone = await undo.undo();
  expect(undone && describeUndone(undone, root)).toBe(
    'Taken back: "a\\nturn"\n  moved back  a (from c)\n  left alone  b: it was changed since by you or another program',
  );
});

test("the model is told once what was taken back, also by another process", async () => {
  undo.begin("write a file");
  await write("file", "1");
  undo.begin("and another");
  await write("other", "2");
  await undo.undo();
  await undo.undo();
  open();
  const note = undo.takeNote();
  expect(note).toContain('the turn "and another". These paths are as they were before it:');
  expect(note).toContain("Read a file again");
  expect(note?.split("\n")).toHaveLength(2);
  expect(undo.takeNote()).toBeUndefined();
});

test("the arguments that are recorded are those that the guards let pass, after the user's answer", async () => {
  registry.guard(() => ({ ask: "Write?" }));
  writeFileSync(at("file"), "old");
  undo.begin("asked");
  await write("file", "new");
  expect(await undo.undo()).toBeUndefined();
  const approve = (): boolean => {
    // Typed while the question was open.
    writeFileSync(at("file"), "mine");
    return true;
  };
  undo.begin("never answered");
  const controller = new AbortController();
  const never = (): Promise<boolean> => new Promise(() => {});
  const left = registry.execute(
    "write_file",
    { path: "file", content: "new" },
    { approve: never, signal: controller.signal },
  );
  controller.abort();
  await left;
  expect(await undo.undo()).toBeUndefined();
  undo.begin("answered");
  await registry.execute("write_file", { path: "file", content: "new" }, { approve });
  await undo.undo();
  expect(read("file")).toBe("mine");
});

test("options are checked", () => {
  expect(() => createUndo({ directory: "relative", root })).toThrow("absolute path");
  expect(() => createUndo({ directory, root, maxTurns: 0 })).toThrow("maxTurns");
  expect(() => createUndo({ directory, root, maxBytes: -1 })).toThrow("maxBytes");
  expect(() => createUndo({ directory, root, roots: [] } as UndoOptions)).toThrow("roots");
});
