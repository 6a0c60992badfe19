import { mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { Client, Tool } from "@modelcontextprotocol/client";
import { defineTool } from "@toolcrib/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFixtureRegistry } from "../../fixtures/registry.ts";
import {
  ask,
  type ConnectOptions,
  connected,
  connectedByStreams,
  type Era,
  eras,
  served,
} from "../../fixtures/serving.ts";
import { type McpServing, type ServeMcpOptions, serveMcp } from "./serveMcp.ts";

let folder = "";
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "toolcrib-roots-")));
  for (const name of ["a b", "c"]) await mkdir(join(folder, name));
});
afterEach(() => rm(folder, { recursive: true }));

interface Opened {
  client: Client;
  changes: () => number;
  setRoots(paths: string[]): Promise<void>;
}

/** `roots` are those that the client offers. */
async function open(kind: "stdio" | "http", era: Era, roots?: string[]): Promise<Opened> {
  let changes = 0;
  let current = roots ?? [];
  const onChanged = (): void => {
    changes += 1;
  };
  const options: ConnectOptions = {
    era,
    capabilities: roots ? { roots: { listChanged: true } } : {},
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged } },
    prepare(client) {
      const listed = () => ({ roots: current.map((path) => ({ uri: pathToFileURL(path).href })) });
      if (roots) client.setRequestHandler("roots/list", listed);
    },
  };
  const client =
    kind === "stdio"
      ? await connectedByStreams(createFixtureRegistry, options)
      : await connected(await serve({}, roots ? { roots: [folder] } : {}), options);
  return {
    client,
    changes: () => changes,
    setRoots: async (paths) => {
      current = paths;
      await client.sendRootsListChanged();
    },
  };
}

const serve = (http: ServeMcpOptions["http"] = {}, options: ServeMcpOptions = {}): Promise<McpServing> =>
  served(createFixtureRegistry, { name: "fixture", version: "1.2.3", http, ...options });

const names = (tools: readonly Tool[]): string[] => tools.map((tool) => tool.name);

describe.each([
  ["stdio", "legacy"],
  ["stdio", "modern"],
  ["http", "legacy"],
  ["http", "modern"],
] as const)("over %s, %s protocol", (kind, era) => {
  test("the enabled tools are listed in order, with schemas as they are and traits as hints", async () => {
    const { client } = await open(kind, era);
    const { tools } = await client.listTools();
    expect(names(tools)).toEqual(createFixtureRegistry().getToolNames());
    expect(tools[0]).toMatchObject({
      description: "Answers the text.",
      inputSchema: { type: "object", required: ["text"], additionalProperties: false },
      annotations: { readOnlyHint: true },
    });
    expect(tools[1]?.annotations).toEqual({ destructiveHint: true });
    expect(client.getServerVersion()).toMatchObject({ name: "fixture", version: "1.2.3" });
  });

  test("a call answers the output; rich content stands beside its text", async () => {
    const { client } = await open(kind, era);
    const echo = await client.callTool({ name: "echo", arguments: { text: "ü\u0000x" } });
    expect(echo.content).toEqual([{ type: "text", text: "ü\u0000x" }]);
    expect(echo.isError ?? false).toBe(false);
    const picture = await client.callTool({ name: "picture", arguments: {} });
    expect(picture.content).toEqual([
      { type: "text", text: "a dot" },
      { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
    ]);
  });

  test("failures are results with isError, worded as execute words them; an unknown tool is a protocol error", async () => {
    const { client } = await open(kind, era);
    expect(await ask(client, "fail")).toEqual([true, "Error executing fail: it broke"]);
    expect(await ask(client, "limited")).toEqual([true, "Error executing limited: Timed out after 50 ms"]);
    expect(await ask(client, "echo", { txt: "x" })).toEqual([true, expect.stringContaining("Invalid arguments")]);
    await expect(client.callTool({ name: "ecko", arguments: {} })).rejects.toThrow(/Tool not found: ecko.*echo/);
  });

  test("progress arrives while the tool runs, and a cancelled call stops it", async () => {
    const { client } = await open(kind, era);
    const controller = new AbortController();
    const seen: unknown[] = [];
    const running = client.callTool(
      { name: "slow", arguments: {} },
      {
        signal: controller.signal,
        onprogress: (progress) => {
          seen.push(progress);
          if (seen.length === 3) controller.abort(new Error("enough"));
        },
      },
    );
    await expect(running).rejects.toThrow();
    expect(seen.slice(0, 3)).toMatchObject([
      { progress: 1, total: 100, message: "step 1" },
      { progress: 2, total: 100, message: "step 2" },
      { progress: 3, total: 100, message: "step 3" },
    ]);
    expect((await client.callTool({ name: "echo", arguments: { text: "still here" } })).content).toHaveLength(1);
  });

  test("the list follows enable and disable live, and the client is told", async () => {
    const { client, changes } = await open(kind, era);
    await client.listTools();
    const toggle = (): Promise<unknown> => client.callTool({ name: "toggle", arguments: {} });
    // An HTTP client is told once its stream is open, which takes a moment.
    while (changes() === 0) {
      await toggle();
      await sleep(20);
    }
    const toggled = async (): Promise<boolean> => !names((await client.listTools()).tools).includes("echo");
    const before = await toggled();
    await toggle();
    expect(await toggled()).toBe(!before);
  });

  test("the client's roots reach the factory where it offers them", async () => {
    const roots = [join(folder, "a b"), join(folder, "c")];
    const { client } = await open(kind, era, roots);
    expect(await ask(client, "roots")).toEqual([false, JSON.stringify(roots)]);
    const without = await open(kind, era);
    expect(await ask(without.client, "roots")).toEqual([false, "null"]);
  });

  test("roots that change are asked for again", async () => {
    const [one, two] = [join(folder, "a b"), join(folder, "c")];
    const { client, setRoots } = await open(kind, era, [one]);
    await ask(client, "roots");
    if (era === "legacy") await setRoots([two]);
    expect(await ask(client, "roots")).toEqual([false, JSON.stringify([era === "legacy" ? two : one])]);
  });
});

describe("over HTTP", () => {
  const initialize = {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
    }),
  };
  const post = (url: string | undefined, headers: Record<string, string>): Promise<Response> =>
    fetch(String(url), { ...initialize, headers: { ...initialize.headers, ...headers } });

  test("a request without the token is refused, with it answered", async () => {
    const { url, token } = await serve();
    for (const headers of [{}, { authorization: "Bearer wrong" }, { authorization: `Basic ${token}` }]) {
      const response = await post(url, headers as Record<string, string>);
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toContain("Bearer");
    }
    expect((await post(url, { authorization: `Bearer ${token}` })).status).toBe(200);
    expect((await serve({ token: "given" })).token).toBe("given");
  });

  test("auth: false asks for no token, and only a loopback address accepts it", async () => {
    const { url, token } = await serve({ auth: false });
    expect(token).toBeUndefined();
    expect((await post(url, {})).status).toBe(200);
    await expect(serve({ auth: false, host: "0.0.0.0" })).rejects.toThrow(/loopback/);
  });

  test("a foreign Host or Origin is refused even with the token", async () => {
    const { url, token } = await serve();
    const authorization = `Bearer ${token}`;
    expect((await post(url, { authorization, origin: "https://evil.example" })).status).toBe(403);
    expect((await post(url, { authorization, origin: "null" })).status).toBe(403);
    expect((await post(url, { authorization, origin: "http://localhost:3000" })).status).toBe(403);
    expect((await post(url, { authorization, origin: new URL(String(url)).origin })).status).toBe(200);
    const port = new URL(String(url)).port;
    const status = await new Promise((resolve, reject) => {
      const headers = { ...initialize.headers, authorization, host: "evil.example" };
      const sent = request({ port, host: "127.0.0.1", path: "/mcp", method: "POST", headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on("error", reject);
      sent.end(initialize.body);
    });
    expect(status).toBe(403);
  });

  test("only loopback listens by default, and nothing but /mcp answers", async () => {
    const { url, token } = await serve();
    expect(new URL(String(url)).hostname).toBe("127.0.0.1");
    const other = String(url).replace("/mcp", "/other");
    expect((await post(other, { authorization: `Bearer ${token}` })).status).toBe(404);
  });

  test("sessions are independent, and one that ended is not found", async () => {
    const { url, token } = await serve();
    const authorization = `Bearer ${token}`;
    const ids = await Promise.all(
      [1, 2].map(async () => (await post(url, { authorization })).headers.get("mcp-session-id")),
    );
    expect(new Set(ids).size).toBe(2);
    const [id = ""] = ids;
    const headers = { authorization, "mcp-session-id": String(id) };
    expect((await fetch(String(url), { method: "DELETE", headers })).status).toBe(200);
    expect((await post(url, headers)).status).toBe(404);
  });

  test.each(eras)("a client's roots never widen ours: %s protocol", async (era) => {
    await symlink("/", join(folder, "a b", "out"));
    const seen = async (...roots: string[]): Promise<unknown> => {
      const { client } = await open("http", era, roots);
      return JSON.parse(String((await ask(client, "roots"))[1]));
    };
    const ours = [folder];
    const linked = join(folder, "a b", "out");
    for (const wider of ["/", join(folder, ".."), "/etc", linked, join(linked, "etc")]) {
      expect(await seen(wider)).toEqual(ours);
    }
    expect(await seen(join(folder, "no such directory"), `${folder}2`)).toEqual(ours);
    expect(await seen("/etc", join(folder, "c"))).toEqual([join(folder, "c")]);
  });

  test.each(eras)("without the option roots those of a client are ignored: %s protocol", async (era) => {
    const prepare = (client: Client): void =>
      client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///etc" }] }));
    const client = await connected(await serve(), { era, capabilities: { roots: {} }, prepare });
    expect(await ask(client, "roots")).toEqual([false, "null"]);
  });

  test("roots that are not directories are refused at the start", async () => {
    for (const roots of [undefined, null, [], "", "/", [""], ["/no/such/directory"], [undefined]]) {
      await expect(serve({}, { roots: roots as never })).rejects.toThrow(/roots/);
    }
  });

  test("close ends open streams and frees the port", async () => {
    const serving = await serve();
    const { client } = await open("http", "legacy");
    await client.listTools();
    await serving.close();
    await serving.closed;
    await expect(post(serving.url, {})).rejects.toThrow();
  });
});

test("an unknown option is refused with the nearest name", async () => {
  const registry = createFixtureRegistry();
  await expect(serveMcp(registry, { rootz: ["/"] } as never)).rejects.toThrow('did you mean "roots"?');
  await expect(serveMcp(registry, { http: { tokn: "x" } } as never)).rejects.toThrow('did you mean "token"?');
  await expect(serveMcp(registry, null as never)).rejects.toThrow(TypeError);
});

test("a plain registry is served too, and a tool registered later is listed", async () => {
  const registry = createFixtureRegistry();
  const client = await connected(await served(registry));
  registry.register(
    defineTool({ name: "late", description: "Came late.", parameters: { type: "object" }, execute: () => "here" }),
  );
  expect(names((await client.listTools()).tools)).toContain("late");
  expect(await ask(client, "late")).toEqual([false, "here"]);
});
