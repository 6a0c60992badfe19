import { readFile } from "node:fs/promises";
import { describe, expect, test, vi } from "vitest";
import { mounted, type PlainServer, plain, scripted, temporaryFile, type Wire } from "../../fixtures/mounting.ts";
import { checkServer } from "./checkServer.ts";

const tool = (name: string, more: object = {}): object => ({ name, inputSchema: { type: "object" }, ...more });
const protocols = ["legacy", "modern"] as const;
const each = (["stdio", "http"] as const).flatMap((wire) =>
  protocols.map((speaks): [Wire, typeof speaks] => [wire, speaks]),
);

describe.each(each)("over %s, a server that speaks %s only", (wire, speaks) => {
  const open = async (spec: PlainServer) =>
    mounted({ s: await plain(wire, { speaks, ...(speaks === "modern" && { resultType: "complete" }), ...spec }) });

  test("is found without an option, and its tools run", async () => {
    const { mount, registry } = await open({ tools: [tool("echo")] });
    expect(mount.problems).toEqual([]);
    expect(await registry.execute("mcp__s__echo", { a: 1 })).toBe('{"a":1}');
  });

  test("is not asked for tools where it declares none: its instructions are kept, nothing is printed", async () => {
    const debug = vi.spyOn(console, "debug").mockReturnValue();
    const { mount } = await open({ capabilities: { prompts: {} }, instructions: "Be kind." });
    expect([mount.problems, mount.tools]).toEqual([[], []]);
    expect(mount.instructions).toContain("s | Be kind.");
    expect(debug).not.toHaveBeenCalled();
    debug.mockRestore();
  });

  test("costs an odd tool or result, and nothing else", async () => {
    const { mount, registry } = await open({
      tools: [
        { name: "bare" },
        tool("null", { description: null, inputSchema: null, outputSchema: 7, annotations: [] }),
        tool("wrong", { inputSchema: { type: "object", properties: { a: { type: "strnig" } } } }),
        tool("task", { execution: { taskSupport: "required" } }),
        tool("maybe", { execution: { taskSupport: "optional" } }),
        7 as unknown as object,
        { inputSchema: {} },
        tool("twice", { description: "One." }),
        tool("twice", { description: "Two." }),
        tool("good"),
      ],
      results: { bare: {}, null: { content: "said" }, maybe: { content: [{ type: "text" }, null, 7] } },
    });
    const names = ["bare", "null", "maybe", "twice", "good"].map((name) => `mcp__s__${name}`);
    expect(registry.getToolNames()).toEqual(names);
    expect(registry.get("mcp__s__twice")?.getSchema().function.description).toBe("One.");
    expect(mount.problems.map(({ code, message }) => [code, message])).toEqual([
      ["unsupported_tool", expect.stringContaining("task")],
      ["tools_left_out", "MCP server s: it lists twice twice; the first one is used"],
      ["invalid_tool", expect.stringContaining("wrong")],
    ]);
    for (const name of names) expect(await registry.invoke(name, {})).toMatchObject({ ok: true });
  });
});

const revisions = [tool("revision")];

test.each<[protocol: string | undefined, expected: string]>([
  ["2026-07-28", '"2026-07-28"'],
  ["auto", '"2026-07-28"'],
  ["legacy", "null"],
  ["2025-06-18", "null"],
  [undefined, "null"],
])(
  "an entry with the protocol %s speaks it with a server that knows both, also without types of results",
  async (protocol, expected) => {
    for (const wire of ["stdio", "http"] as const) {
      const entry = { ...(await plain(wire, { speaks: "both", tools: revisions })), ...(protocol && { protocol }) };
      // The entry comes before the option.
      const options =
        protocol === undefined ? {} : ({ versionNegotiation: protocol === "legacy" ? "auto" : "legacy" } as const);
      const { mount, registry } = await mounted({ s: entry }, options);
      expect(mount.problems).toEqual([]);
      expect(await registry.execute("mcp__s__revision")).toBe(expected);
    }
  },
);

test.each([-32601, -32602, -32600, -32022])(
  "a server that refuses initialize with %s is asked in the newer revision",
  async (refusal) => {
    const { registry } = await mounted({ s: await plain("http", { speaks: "modern", refusal, tools: revisions }) });
    expect(await registry.execute("mcp__s__revision")).toBe('"2026-07-28"');
  },
);

test("what is tried beside costs nothing where it fails: the first error is told", async () => {
  const entry = await plain("stdio", { speaks: "legacy" });
  const { mount } = await mounted({
    pinned: { ...entry, protocol: "2026-07-28" },
    other: { ...entry, protocol: "2026" },
  });
  expect(mount.problems.map(({ message }) => message).sort()).toEqual([
    "MCP server other: protocol must be auto, legacy, or the date of a revision such as 2026-07-28",
    expect.stringContaining("did not offer pinned protocol version 2026-07-28"),
  ]);
});

test("a tool that needs a task is no fault of the server, whose other tools can be used", async () => {
  const tools = [tool("task", { execution: { taskSupport: "required" } }), tool("good")];
  const check = await checkServer("s", await plain("http", { tools }));
  expect(check).toMatchObject({ isOk: true, problems: [{ code: "unsupported_tool", details: { tool: "task" } }] });
  expect(check.advice).not.toMatch(/whoever|author|correct/);
  const kept = await checkServer("s", await plain("http", { tools: [...tools, tool("twice"), tool("twice")] }));
  expect(kept).toMatchObject({ isOk: false, advice: expect.stringContaining("tell whoever makes the server") });
});

test("the ways in which a server is tried share the time of its start", async () => {
  const script = `
    require("node:readline").createInterface(process.stdin).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      const send = (answer) => setTimeout(() => console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer })), 500);
      if (method === "initialize") return send({ error: { code: -32601, message: "none" } });
      const result = { resultType: "complete", capabilities: {}, serverInfo: { name: "s", version: "1" } };
      send({ result: { ...result, ttlMs: 0, cacheScope: "private", supportedVersions: ["2026-07-28"] } });
    });`;
  // Of the short time each answer comes within the half that it has, and both together do not.
  const [patient, short] = await Promise.all(
    [60_000, 1300].map((startTimeoutMs) => mounted({ s: scripted(script) }, { startTimeoutMs })),
  );
  expect(patient?.mount.problems).toEqual([]);
  expect(short?.mount.problems).toMatchObject([{ code: "server_failed" }]);
});

test("auto starts one process, and another one only for a server that ends at an unknown request", async () => {
  const file = await temporaryFile("starts");
  const script = (end: string): string => `
    require("node:fs").appendFileSync(${JSON.stringify(file)}, "x");
    require("node:readline").createInterface(process.stdin).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      const result = { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "s", version: "1" } };
      const answer = method === "initialize" ? { result } : { error: { code: -32601, message: "none" } };
      if (method === "server/discover") { ${end} }
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
    });`;
  for (const [end, starts] of [
    ["", "x"],
    ["process.exit(1)", "xxx"],
  ] as const) {
    const { mount } = await mounted({ s: { ...scripted(script(end)), protocol: "auto" } });
    expect(mount.problems).toEqual([]);
    expect(await readFile(file, "utf8")).toBe(starts);
  }
});

test.each<[what: string, tools: number, words: number, isMany: boolean]>([
  ["129 tools", 129, 1, true],
  ["128 tools", 128, 1, false],
  ["a few with long definitions", 3, 40_000, true],
])("a server with %s says so if that is a burden for each request", async (_what, count, words, isMany) => {
  const tools = Array.from({ length: count }, (_, at) => tool(`t${at}`, { description: "x".repeat(words) }));
  const entry = await plain("http", { tools });
  const { mount } = await mounted({ s: entry });
  const problems = isMany ? [{ code: "many_tools", message: expect.stringMatching(/includeTools.* deferred/s) }] : [];
  expect(mount.problems).toMatchObject(problems);
  const deferred = await mounted({ s: entry }, { deferred: ["s"] });
  expect(deferred.mount.problems).toEqual([]);
  expect(deferred.mount.tools.every((one) => one.deferred)).toBe(true);
  expect(await checkServer("s", entry)).toMatchObject({ isOk: true, problems });
});
