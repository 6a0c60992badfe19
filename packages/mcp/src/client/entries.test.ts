import { writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { mounted, plain, scripted, serveLoopback, temporaryFile } from "../../fixtures/mounting.ts";
import { createFixtureRegistry } from "../../fixtures/registry.ts";
import { served } from "../../fixtures/serving.ts";
import { projectConfigFile } from "../config/configFile.ts";
import { describeServer } from "../config/describeServer.ts";
import { resolveServer } from "./serverConfig.ts";

const names = (...all: string[]): object[] => all.map((name) => ({ name, inputSchema: { type: "object" } }));

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: filled in by the configuration
test("variables are filled in as programs write them, and any other mark is a problem that names it", () => {
  const env = { a: "${env:A}", b: "${A}", c: "${env:NO:-x}", d: "${input:key}", e: "${workspaceFolder:web}", f: "${}" };
  const target = resolveServer("s", { command: "x", env }, { A: "1" });
  expect(target).toMatchObject({ env: { a: "1", b: "1", c: "x", d: env.d, e: env.e, f: "${}" } });
  expect(target.unused).toEqual(
    [env.d, env.e, env.f].map((mark) => expect.stringContaining(`${mark} is not filled in`)),
  );
  expect(() => resolveServer("s", { command: "${workspaceFolder}/x" }, {})).toThrow(/workspaceFolder is not set/);
  expect(() => resolveServer("s", { command: "${env:NO}" }, {})).toThrow(/NO is not set/);
  expect(describeServer("s", { command: "x", args: ["${env:A}", "${input:B}"] })).toMatch(
    /environment: A \(into args.0\)$/,
  );
});

test.each<[entry: Record<string, unknown>, problems: RegExp[]]>([
  [{ command: "x", timeout: 5, autoApprove: [] }, [/timeout has no effect/, /autoApprove has no effect/]],
  [{ command: "x", Args: [] }, [/Args has no effect; did you mean args/]],
  [{ command: "x", headers: {} }, [/headers has no effect/]],
  [{ url: "http://x", envFile: ".env" }, [/envFile has no effect/]],
  [{ url: "http://x", type: "stdio" }, [/type stdio has no effect for a url/]],
  [{ command: "x", type: "stdio", protocol: "auto", tools: ["*"] }, []],
  [{ url: "http://x", type: "streamable-http", allowedTools: [] }, []],
])("the entry %j says which settings have no effect", (entry, problems) => {
  expect(resolveServer("s", entry, {}).unused).toEqual(problems.map((one) => expect.stringMatching(one)));
});

describe("lists of tools", () => {
  const open = async (lists: object) =>
    mounted({ s: { ...(await plain("http", { tools: names("read_a", "read_b", "write", "a*b") })), ...lists } });

  test.each<[lists: object, letIn: string[], problems?: string[]]>([
    [{ includeTools: ["read_*"] }, ["read_a", "read_b"]],
    [{ tools: ["*"], excludeTools: ["write"] }, ["read_a", "read_b", "a_b"]],
    [{ allowedTools: ["write"], disabledTools: ["w*e"] }, []],
    [{ includeTools: [] }, []],
    [{ excludeTools: [] }, ["read_a", "read_b", "write", "a_b"]],
    [{ tools: ["*"], includeTools: ["read_a", "write"] }, ["read_a", "write"]],
    [{ includeTools: ["*_*b"] }, ["read_b"]],
    [{ includeTools: ["mcp__s__write"] }, [], ["includeTools names mcp__s__write"]],
    [
      { includeTools: ["write"], disabledTools: ["raed_a", "z*"] },
      ["write"],
      ["did you mean read_a?", "disabledTools names z*"],
    ],
  ])("%j let in what they name, by the server's own names", async (lists, letIn, problems = []) => {
    const { mount, registry } = await open(lists);
    expect(registry.getToolNames()).toEqual(letIn.map((name) => `mcp__s__${name}`));
    expect(mount.problems.map(({ code, message }) => [code, message])).toEqual(
      problems.map((one) => ["unused_setting", expect.stringContaining(one)]),
    );
  });

  test.each([{ includeTools: "read_a" }, { tools: { read_a: true } }, { allowedTools: [7] }, { excludeTools: null }])(
    "%j cannot be read, so nothing is mounted",
    async (lists) => {
      const { mount } = await open(lists);
      expect(mount.tools).toEqual([]);
      expect(mount.problems).toMatchObject([
        { code: "invalid_config", message: expect.stringContaining("array of names") },
      ]);
    },
  );

  test("a tool that is kept out is no problem, whatever is wrong with it", async () => {
    const odd = [{ name: "odd", execution: { taskSupport: "required" } }, ...names("good")];
    const { mount } = await mounted({ s: { ...(await plain("http", { tools: odd })), excludeTools: ["odd"] } });
    expect([mount.problems, mount.tools.length]).toEqual([[], 1]);
  });
});

describe("envFile", () => {
  const shown = scripted(`
    require("node:readline").createInterface(process.stdin).on("line", (line) => {
      const { id } = JSON.parse(line);
      const result = { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "s", version: "1" } };
      const instructions = [process.env.A, process.env.B].join();
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: { ...result, instructions } }));
    });`);

  test("gives variables from the folder of the JSON, env wins, and the question of trust shows it", async () => {
    const file = await temporaryFile("vars.env");
    await writeFile(file, 'A="one two" # said\nexport B=file\n');
    const folder = dirname(file);
    const entry = { ...shown, envFile: "vars.env", env: { B: "entry" } };
    const { mount } = await mounted({ s: entry }, { configDirectory: folder });
    expect(mount.problems).toEqual([]);
    expect(mount.instructions).toContain("s | one two,entry");
    await writeFile(
      `${folder}/.mcp.json`,
      JSON.stringify({ mcpServers: { s: entry, v: { ...entry, envFile: "${HOME}/e" } } }),
    );
    const { mcpServers } = await projectConfigFile(folder).read();
    expect(mcpServers).toMatchObject({ s: { envFile: file }, v: { envFile: "${HOME}/e" } });
    expect(describeServer("s", mcpServers.s as typeof entry)).toContain(`with the variables of the file ${file}`);
    expect((await mounted({ s: mcpServers.s as typeof entry })).mount.instructions).toContain("one two");
  });

  test.each<[what: string, content: string | undefined, says: RegExp]>([
    ["is missing", undefined, /does not exist; make the file/],
    ["chooses what code runs", "NODE_OPTIONS=--require ./x.js", /sets NODE_OPTIONS/],
    ["chooses where code comes from", "GITHUB_TOKEN=x\nnpm_config_registry=http://x", /sets npm_config_registry/],
  ])("that %s is an error", async (_what, content, says) => {
    const file = await temporaryFile("vars.env");
    if (content !== undefined) await writeFile(file, content);
    const { mount } = await mounted({ s: { ...shown, envFile: file } });
    expect(mount.problems).toMatchObject([{ code: "invalid_config", message: expect.stringMatching(says) }]);
  });
});
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above

describe("a url alone tries the newer transport, then SSE", () => {
  /** The transport of 2024 at GET; POST to the same address is refused by `status`. */
  const open = async (status: number, type?: string) => {
    const asked: string[] = [];
    let stream: import("node:http").ServerResponse | undefined;
    const origin = await serveLoopback(async (request, response) => {
      asked.push(`${request.method} ${request.url}`);
      if (request.method === "GET") {
        stream = response.writeHead(200, { "content-type": "text/event-stream" });
        stream.write("event: endpoint\ndata: /messages\n\n");
      } else if (request.url === "/messages") {
        const { id } = JSON.parse(await text(request));
        const result = { protocolVersion: "2024-11-05", capabilities: {}, serverInfo: { name: "old", version: "1" } };
        response.writeHead(202).end();
        if (id !== undefined) stream?.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`);
      } else response.writeHead(status, { "content-type": "text/html" }).end("<p>no</p>");
    });
    const entry = { url: `${origin}/sse`, ...(type && { type }) };
    return { ...(await mounted({ s: entry })), asked };
  };

  test.each([400, 404, 405])("after %i", async (status) => {
    const { mount, asked } = await open(status);
    expect(mount.problems).toEqual([]);
    expect(asked).toContain("POST /messages");
  });

  test.each([401, 403, 406, 500])("not after %i", async (status) => {
    const { mount, asked } = await open(status);
    expect(mount.problems).toMatchObject([{ code: "server_failed" }]);
    expect(asked).toEqual(["POST /sse"]);
  });

  test("not where the entry names its transport, nor for a server that is right", async () => {
    expect((await open(405, "http")).asked).toEqual(["POST /sse"]);
    const { url } = await served(createFixtureRegistry());
    expect((await mounted({ s: { url: String(url) } })).mount.problems).toEqual([]);
  });
});
