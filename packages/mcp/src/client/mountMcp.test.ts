import { expect, onTestFinished, test } from "vitest";
import { command, fixture, mounted, path, temporaryFile } from "../../fixtures/mounting.ts";
import { createFixtureRegistry } from "../../fixtures/registry.ts";
import { serveMcp } from "../server/serveMcp.ts";
import { mountMcp } from "./mountMcp.ts";
import type { McpServerConfig } from "./serverConfig.ts";
import { fileToolStore } from "./toolStore.ts";

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("the tools of a server run as tools of a registry: results, failures, traits and checked arguments", async () => {
  const { mount, registry } = await mounted({ fix: fixture }, { trust: ["fix"] });
  expect(mount.problems).toEqual([]);
  expect(registry.getToolNames()[0]).toBe("mcp__fix__echo");
  expect(await registry.execute("mcp__fix__echo", { text: "hi" })).toBe("hi");
  expect(await registry.execute("mcp__fix__fail", {})).toBe("Error executing mcp__fix__fail: it broke");
  expect(await registry.execute("mcp__fix__echo", {})).toContain("Invalid arguments: text");
  expect(registry.get("mcp__fix__echo")?.readOnly).toBe(true);
  expect(registry.get("mcp__fix__fail")?.destructive).toBe(true);
  const picture = await registry.invoke("mcp__fix__picture", {});
  expect(picture).toEqual({
    ok: true,
    output: "a dot\n[image: image/png, 9 bytes]",
    content: [{ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }],
  });
});

test("hints of a server are listed as hints, and are traits only of a server that is trusted", async () => {
  const { registry } = await mounted({ fix: fixture, other: fixture }, { trust: ["other"] });
  const tools = new Map(registry.listTools().map((tool) => [tool.name, tool]));
  expect(tools.get("mcp__fix__echo")).toMatchObject({ origin: "mcp:fix", hints: { readOnly: true } });
  expect(tools.get("mcp__other__echo")).toMatchObject({
    origin: "mcp:other",
    hints: { readOnly: true },
    readOnly: true,
  });
  expect(tools.get("mcp__fix__fail")?.hints).toEqual({ destructive: true });
  for (const name of ["mcp__fix__echo", "mcp__fix__fail"]) {
    const { readOnly, destructive, idempotent, openWorld } = registry.get(name) ?? {};
    expect([readOnly, destructive, idempotent, openWorld]).toEqual([undefined, undefined, undefined, undefined]);
  }
});

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: filled in by the configuration
test("a server over HTTP is mounted by its address and headers, with variables filled in", async () => {
  const serving = await serveMcp(createFixtureRegistry(), { http: {} });
  onTestFinished(() => serving.close());
  const entry = { type: "http", url: "${URL}", headers: { Authorization: "Bearer ${TOKEN:-none}" } } as const;
  const environment = { URL: serving.url, TOKEN: serving.token };
  const { mount, registry } = await mounted({ web: entry }, { environment });
  expect(mount.problems).toEqual([]);
  expect(await registry.execute("mcp__web__echo", { text: "over HTTP" })).toBe("over HTTP");
  const { mount: refused } = await mounted({ web: entry }, { environment: { URL: serving.url } });
  expect(refused.problems).toMatchObject([{ code: "server_failed", server: "web" }]);
});

// biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above
test("progress and the end of a call pass through: by abort and by time limit", async () => {
  const { registry } = await mounted({ fix: fixture });
  const controller = new AbortController();
  const seen: unknown[] = [];
  const outcome = await registry.invoke(
    "mcp__fix__slow",
    {},
    {
      signal: controller.signal,
      onProgress: (progress) => {
        seen.push(progress);
        if (seen.length === 2) controller.abort();
      },
    },
  );
  expect(seen).toMatchObject([{ progress: 1, total: 100, message: "step 1" }, { progress: 2 }]);
  expect(outcome).toMatchObject({ ok: false, error: { code: "aborted" } });
  expect(await registry.execute("mcp__fix__slow", {}, { timeoutMs: 100 })).toMatch(/Timed out after 100 ms/);
});

test("a server that dies fails the call that runs, and is started again for the next call", async () => {
  const { registry } = await mounted({ fix: fixture });
  expect(await registry.execute("mcp__fix__die", {})).toMatch(/ended during the call, which may have completed/);
  expect(await registry.execute("mcp__fix__echo", { text: "back" })).toBe("back");
  const pid = Number(await registry.execute("mcp__fix__pid", {}));
  process.kill(pid, "SIGKILL");
  await expect.poll(() => isRunning(pid)).toBe(false);
  expect(await registry.execute("mcp__fix__echo", { text: "and again" })).toBe("and again");
});

test("a server that is gone is named with the reason, and a session that it has lost is opened again", async () => {
  const registryServed = createFixtureRegistry();
  const first = await serveMcp(registryServed, { http: { auth: false } });
  const { registry } = await mounted({ web: { url: String(first.url) } });
  await first.close();
  expect(await registry.execute("mcp__web__echo", { text: "?" })).toMatch(
    /MCP server web could not be reached.*(ECONN|closed)/,
  );
  const second = await serveMcp(registryServed, {
    http: { auth: false, port: Number(new URL(String(first.url)).port) },
  });
  onTestFinished(() => second.close());
  expect(await registry.execute("mcp__web__echo", { text: "again" })).toBe("again");
});

test("close ends the server's process, and later calls say so", async () => {
  const { mount, registry } = await mounted({ fix: fixture });
  const pid = Number(await registry.execute("mcp__fix__pid", {}));
  expect(isRunning(pid)).toBe(true);
  await mount.close();
  expect(isRunning(pid)).toBe(false);
  expect(await registry.execute("mcp__fix__echo", { text: "x" })).toMatch(/has been closed/);
});

test("close ends a server that ignores the end of its input and SIGTERM", async () => {
  const { mount, registry } = await mounted({ s: { command: process.execPath, args: [path("stubbornServer.mjs")] } });
  const pid = Number(await registry.execute("mcp__s__pid", {}));
  await mount.close();
  await expect.poll(() => isRunning(pid)).toBe(false);
});

test("calls that come at once start one process", async () => {
  const store = fileToolStore(await temporaryFile("tools.json"));
  await (await mounted({ fix: fixture }, { store })).mount.close();
  const { registry } = await mounted({ fix: fixture }, { store });
  const pids = await Promise.all([1, 2, 3].map(() => registry.execute("mcp__fix__pid", {})));
  expect(new Set(pids).size).toBe(1);
});

test("a bad server, entry or tool is named and does not affect the others", async () => {
  const { mount, registry } = await mounted({
    gone: { command: process.execPath, args: ["-e", "console.error('no such database'); process.exit(1)"] },
    missing: { command: "no-such-command-of-toolcrib" },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: filled in by the configuration
    unset: { command: "${NO_SUCH_VARIABLE_OF_TOOLCRIB}" },
    empty: {} as McpServerConfig,
    off: { command: "never", disabled: true },
    odd: command("oddServer.ts"),
  });
  const problems = new Map(mount.problems.map((problem) => [problem.server, problem]));
  expect([...problems.keys()].sort()).toEqual(["empty", "gone", "missing", "odd", "unset"]);
  expect(problems.get("gone")?.message).toContain("no such database");
  expect(problems.get("missing")).toMatchObject({ code: "server_failed" });
  expect(problems.get("unset")?.message).toContain("NO_SUCH_VARIABLE_OF_TOOLCRIB is not set");
  expect(problems.get("empty")?.message).toContain("needs a command (and args) or a url");
  expect(problems.get("odd")).toMatchObject({ code: "invalid_tool", details: { tool: "broken" } });
  expect(registry.getToolNames()).toEqual([
    "mcp__odd__hello",
    "mcp__odd__draft_7_",
    "mcp__odd__draft_2020",
    "mcp__odd__nameless",
    "mcp__odd__hello_",
    "mcp__odd__hello__2",
  ]);
  expect(await registry.execute("mcp__odd__hello__2", {})).toContain('"name":"hello?"');
});

test("draft-07 and 2020-12 schemas are each checked by the rules of their draft", async () => {
  const { registry } = await mounted({ odd: command("oddServer.ts") });
  for (const name of ["mcp__odd__draft_7_", "mcp__odd__draft_2020"]) {
    expect(await registry.execute(name, { pair: ["a", 1] })).toContain('"pair":["a",1]');
    expect(await registry.execute(name, { pair: [{}, 1] })).toContain("Invalid arguments");
    expect(await registry.execute(name, { pair: ["a", 1, 2] })).toContain("Invalid arguments");
  }
});

test("a config without mcpServers is refused", async () => {
  await expect(mountMcp({ servers: {} } as never)).rejects.toThrow(/mcpServers/);
});

test("an unknown option is refused with the nearest name, and trust is a list", async () => {
  await expect(mountMcp({ mcpServers: {} }, { stores: 1 } as never)).rejects.toThrow('did you mean "store"?');
  await expect(mountMcp({ mcpServers: {} }, { trust: "server" } as never)).rejects.toThrow(/trust must be an array/);
});

test("control characters of a server's words reach no message and no description", async () => {
  const tools = [
    { name: "bad\u001b[2J", description: "x", inputSchema: { type: "object", properties: 7 } },
    { name: "good\u202e", description: "One.\u001b[31m\nTwo.\u009b", inputSchema: { type: "object" } },
    { name: "plain\u001b", inputSchema: { type: "object" } },
  ];
  const script = `
    require("node:readline").createInterface(process.stdin).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      const started = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } };
      const results = { initialize: started, "tools/list": { tools: ${JSON.stringify(tools)} } };
      const error = { code: -1, message: "no\\u001b]0;title\\u0007" };
      const answer = results[method] ? { result: results[method] } : { error };
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
    });`;
  const broken = { command: process.execPath, args: ["-e", "console.error('\u001b[2Jgone'); process.exit(1)"] };
  const { mount } = await mounted({ s: { command: process.execPath, args: ["-e", script] }, "b\u001b": broken });
  expect(mount.problems).toHaveLength(2);
  const [first, second] = mount.tools.map((tool) => tool.getSchema().function.description);
  expect(first).toBe("One.[31m\nTwo.");
  const words = [...mount.problems.map(({ message }) => message), first, second].join();
  expect(words).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
});
