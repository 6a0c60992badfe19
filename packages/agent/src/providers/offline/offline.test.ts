import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { anyTool, type Run, read, registryOf } from "../../../testing/turns.ts";
import { Agent } from "../../agent.ts";
import { isAgentError } from "../../errors.ts";
import type { AgentEvent } from "../../messages.ts";
import { testProvider } from "../../testing.ts";
import requests from "./fixtures/requests.json" with { type: "json" };
import { OfflineProvider } from "./offline.ts";
import { parseRequest } from "./request.ts";

let folder: string;
beforeEach(() => {
  folder = temporaryFolder("offline");
});

/** Small tools of the same names and output as the packs', on real files. */
function tools(...disabled: string[]): ToolRegistry {
  const registry = new ToolRegistry();
  const text = { type: "string" } as const;
  const add = (name: string, properties: object, run: (args: Record<string, string>) => string): void => {
    const more = { parameters: { type: "object", properties }, readOnly: name !== "write_file" };
    registry.register(anyTool(name, (args) => run(args as Record<string, string>), more));
  };
  add("list_dir", { path: text }, ({ path = "" }) =>
    readdirSync(path, { withFileTypes: true })
      .map((entry) => entry.name + (entry.isDirectory() ? "/" : ""))
      .sort()
      .join("\n"),
  );
  add("read_file", { path: text, limit: { type: "integer" } }, ({ path = "" }) => readFileSync(path, "utf8"));
  add("write_file", { path: text, content: text }, ({ path = "", content = "" }) => {
    writeFileSync(path, content);
    return `Wrote ${path}`;
  });
  const files = (path: string): string[] =>
    readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  add("search_files", { pattern: text, cwd: text, max_results: { type: "integer" } }, ({ cwd = "." }) =>
    files(cwd).join("\n"),
  );
  add(
    "search_text",
    { query: text, paths: { type: "array", items: text }, regex: { type: "boolean" } },
    ({ query = "", paths = "" }) => {
      const found = [...paths]
        .flatMap((path) => files(path))
        .flatMap((path) =>
          readFileSync(path, "utf8")
            .split("\n")
            .flatMap((line, index) => (new RegExp(query).test(line) ? [`${path}:${index + 1}:${line}`] : [])),
        );
      return found.join("\n") || `No matches for ${query}`;
    },
  );
  for (const name of disabled) registry.disable(name);
  return registry;
}

const run = (prompt: string, registry: ToolRegistry = tools(), stream = true): Promise<AgentEvent[]> =>
  read(new Agent(new OfflineProvider({ stream }), { tools: registry }).streamChat(prompt));

const endOf = (events: AgentEvent[]): string =>
  events.flatMap((event) => (event.type === "end" ? [event.text] : [])).join();
const callsIn = (events: AgentEvent[]): string[] =>
  events.flatMap((event) => (event.type === "tool-call" ? [event.name] : []));

describe("each documented request calls its tool and answers from the result", () => {
  test("list", async () => {
    writeFileSync(join(folder, "one.txt"), "");
    mkdirSync(join(folder, "two"));
    const events = await run(`list ${folder}`);
    expect(callsIn(events)).toEqual(["list_dir"]);
    expect(endOf(events)).toContain("holds 2 entries:\n\none.txt\ntwo/");
  });

  test("find", async () => {
    writeFileSync(join(folder, "one.txt"), "a needle\nhay\n");
    expect(endOf(await run(`find needle in ${folder}`))).toContain("one.txt:1:a needle");
    expect(endOf(await run(`search for "no such" in ${folder}`))).toBe("No matches for no such");
  });

  test("read and write", async () => {
    const file = join(folder, "note.txt");
    expect(endOf(await run(`write "buy milk" to ${file}`))).toBe(`Wrote ${file}`);
    expect(readFileSync(file, "utf8")).toBe("buy milk\n");
    expect(endOf(await run(`read ${file}`))).toContain("buy milk");
  });

  test("a tool's error is the answer", async () => {
    expect(endOf(await run(`read ${folder}/absent.txt`))).toMatch(
      /^That did not work: Error executing read_file: ENOENT/,
    );
  });
});

test.each(requests)("$text is parsed as it is meant", ({ text, request }) => {
  expect(JSON.parse(JSON.stringify(parseRequest(text) ?? null))).toEqual(request);
});

test.each([
  ["read absent.txt", tools(), true],
  ["survey absent", tools(), true],
  ["read a.txt", tools("read_file"), true],
  ["help", tools(), false],
])("%s says by `failed` of its end whether the request did not work", async (request, registry, failed) => {
  expect((await run(request, registry)).at(-1)).toMatchObject(failed ? { type: "end", failed } : { type: "end" });
  if (!failed) expect((await run(request, registry)).at(-1)).not.toHaveProperty("failed");
});

describe("a file that exists is never replaced", () => {
  const there = (): string => {
    const file = join(folder, "README.md");
    writeFileSync(file, "# Kept\n");
    return file;
  };

  test.each([
    "write hello to README.md",
    'write "hello" to readme.md',
    "survey FOLDER and write a report to README.md",
  ])("%s is refused", async (request) => {
    const file = there();
    const words = request.replace("FOLDER", folder).replace(/readme\.md/i, (name) => join(folder, name));
    const events = await run(words);
    expect(endOf(events)).toMatch(/exists, and I replace no file/);
    expect(events.at(-1)).toMatchObject({ failed: true });
    expect(readFileSync(file, "utf8")).toBe("# Kept\n");
  });

  test("a missing folder contains no file, but a folder that cannot be listed may", async () => {
    const written: unknown[] = [];
    const registry = tools();
    registry.unregister("write_file");
    registry.register(anyTool("write_file", (args) => written.push(args)));
    await run(`write hello to ${folder}/new/deep/a.txt`, registry);
    expect(written).toEqual([{ path: `${folder}/new/deep/a.txt`, content: "hello\n" }]);
    writeFileSync(join(folder, "file"), "");
    expect(endOf(await run(`write hello to ${folder}/file/a.txt`, registry))).toMatch(/I cannot see whether/);
    expect(endOf(await run(`write hello to ${folder}/b.txt`, tools("list_dir")))).toMatch(/I cannot see whether/);
    expect(written).toHaveLength(1);
  });
});

describe("survey", () => {
  test("says how many folders and kinds of files it does not show", async () => {
    for (let index = 0; index < 23; index += 1) mkdirSync(join(folder, `d${index}`));
    for (let index = 0; index < 11; index += 1) writeFileSync(join(folder, `a.x${index}`), "");
    const text = endOf(await run(`survey ${folder}`));
    expect(text).toMatch(/23 folders, 11 files: d0\/ .* … and 3 more folders/);
    expect(text).toMatch(/11 files: .*, … and 3 more kinds\n/);
  });

  const prepare = (): string => {
    writeFileSync(join(folder, "README.md"), "# Kettle\n\nBoils water.\n");
    writeFileSync(join(folder, "package.json"), '{"name":"kettle","description":"boils"}');
    mkdirSync(join(folder, "src"));
    writeFileSync(join(folder, "src", "a.ts"), "// TODO: switch off\n");
    return `survey ${folder} and write a report to ${join(folder, "report.md")}`;
  };

  test("lists and searches, reads the files that tell most, writes the report, and shows it", async () => {
    const events = await run(prepare());
    const called = ["list_dir", "search_text", "search_files", "read_file", "read_file", "write_file"];
    expect(callsIn(events)).toEqual(called);
    const report = readFileSync(join(folder, "report.md"), "utf8");
    expect(report).toContain("README.md: Kettle · Boils water.");
    expect(report).toContain("package.json: kettle · boils");
    expect(report).toContain("3 files: .json 1, .md 1, .ts 1");
    expect(report).toContain("1 mark in 1 file:");
    expect(endOf(events)).toContain(`The report is in ${join(folder, "report.md")}`);
  });

  test("uses enabled tools only and says which are missing", async () => {
    const text = endOf(await run(prepare(), tools("search_text", "write_file")));
    expect(text).toContain("I need the tool write_file, which is not enabled.");
    expect(text).toContain("Not read, because these tools are not enabled: search_text.");
    expect(text).toContain("Kettle");
  });
});

describe("a cut at a tool's limit is reported", () => {
  test("of a search", async () => {
    const lines = Array.from({ length: 500 }, (_, index) => `a.ts:${index + 1}:x`);
    const notice = "[truncated: shown 500 matches, there is more; pass max_results=2000 to continue]";
    const found = `${lines.join("\n")}\n\n${notice}\n[1 path missing]`;
    const text = endOf(await run("find x", registryOf({ search_text: () => found })));
    expect(text).toMatch(/^At least 500 lines with "x" in \.:\n\na\.ts:1:x\n/);
    expect(text).toMatch(
      /a\.ts:200:x\n… and at least 300 more lines\n\nCut at a limit: shown 500 matches, there is more\.$/,
    );
  });

  test("of a package.json, which is read as a whole", async () => {
    writeFileSync(join(folder, "package.json"), "");
    const registry = tools();
    let args: unknown;
    registry.unregister("read_file");
    const cut = '{"name":"kettle",\n\n[truncated: shown 1 of 2 lines; pass offset=2 to continue]';
    const readIt: Run = (given) => {
      args = given;
      return cut;
    };
    registry.register(anyTool("read_file", readIt));
    expect(endOf(await run(`survey ${folder}`, registry))).toContain("package.json: too long to read here");
    expect(args).toEqual({ path: join(folder, "package.json") });
  });
});

test("a text with a lone surrogate is written once", async () => {
  const file = join(folder, "odd.txt");
  expect(endOf(await run(`write "a\ud800b" to ${file}`))).toBe(`Wrote ${file}`);
});

test("a missing tool is named and nothing is called", async () => {
  const events = await run("read a.txt", tools("read_file"));
  expect(callsIn(events)).toEqual([]);
  expect(endOf(events)).toBe("I need the tool read_file, which is not enabled. Enable it and ask again.");
});

test("a request that no rule fits is refused with a code and the list of what is understood, and the agent goes on", async () => {
  const agent = new Agent(new OfflineProvider(), { tools: tools() });
  const error = await agent.chat("write a poem about boats").catch((thrown: unknown) => thrown);
  expect(isAgentError(error) && error.code).toBe("not_understood");
  expect(String(error)).toContain("find TEXT in PATH");
  expect(agent.sessionContext).toEqual([]);
  expect(await agent.chat("help")).toContain("not a language model");
});

test("the answer comes in several pieces when streamed and in one when not, the same text", async () => {
  const texts = (events: AgentEvent[]): string[] =>
    events.flatMap((event) => (event.type === "text-delta" ? [event.text] : []));
  const [streamed, whole] = [await run("help"), await run("help", tools(), false)];
  expect(texts(streamed).length).toBeGreaterThan(3);
  expect(texts(whole)).toHaveLength(1);
  expect(texts(streamed).join("")).toBe(texts(whole)[0]);
  expect(endOf(streamed)).toBe(texts(whole)[0]);
});

testProvider(test, { create: ({ stream }) => new OfflineProvider({ stream }) });
