import { expect, test } from "vitest";
import { fixture, mounted, odd, plain, scripted, temporaryFile } from "../../fixtures/mounting.ts";
import { createFixtureRegistry } from "../../fixtures/registry.ts";
import { served, servedEntry } from "../../fixtures/serving.ts";
import { serveMcp } from "../server/serveMcp.ts";
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
  expect(registry.get("mcp__fix__fail")?.destructive).toBe(true);
  expect(await registry.invoke("mcp__fix__picture", {})).toEqual({
    ok: true,
    output: "a dot\n[image: image/png, 8 bytes]",
    content: [{ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }],
  });
});

test("hints of a server are listed as hints, and are traits only of a server that is trusted", async () => {
  const fix = await servedEntry();
  const { registry } = await mounted({ fix, other: fix }, { trust: ["other"] });
  const tools = new Map(registry.listTools().map((tool) => [tool.name, tool]));
  const hints = { readOnly: true };
  expect(tools.get("mcp__fix__echo")).toMatchObject({ origin: "mcp:fix", hints });
  expect(tools.get("mcp__other__echo")).toMatchObject({ origin: "mcp:other", hints, readOnly: true });
  expect(tools.get("mcp__fix__fail")?.hints).toEqual({ destructive: true });
  for (const name of ["mcp__fix__echo", "mcp__fix__fail"]) {
    const { readOnly, destructive, idempotent, openWorld } = registry.get(name) ?? {};
    expect([readOnly, destructive, idempotent, openWorld]).toEqual([undefined, undefined, undefined, undefined]);
  }
});

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: filled in by the configuration
test("a server over HTTP is mounted by its address and headers, with variables filled in", async () => {
  const serving = await served(createFixtureRegistry(), { http: {} });
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
  const { registry } = await mounted({ fix: await servedEntry() });
  const controller = new AbortController();
  const { signal } = controller;
  const seen: unknown[] = [];
  const onProgress = (progress: unknown): void => {
    seen.push(progress);
    if (seen.length === 2) controller.abort();
  };
  const outcome = await registry.invoke("mcp__fix__slow", {}, { signal, onProgress });
  expect(seen).toMatchObject([{ progress: 1, total: 100, message: "step 1" }, { progress: 2 }]);
  expect(outcome).toMatchObject({ ok: false, error: { code: "aborted" } });
  expect(await registry.execute("mcp__fix__slow", {}, { timeoutMs: 100 })).toMatch(/Timed out after 100 ms/);
});

test("a server that dies fails the call that runs, and is started again for the next call", async () => {
  const { registry } = await mounted({ s: odd() });
  expect(await registry.execute("mcp__s__die", {})).toContain("may have completed");
  const pid = Number(await registry.execute("mcp__s__pid", {}));
  process.kill(pid, "SIGKILL");
  await expect.poll(() => isRunning(pid)).toBe(false);
  expect(Number(await registry.execute("mcp__s__pid", {}))).not.toBe(pid);
});

test("a server that has closed its input and lives on is ended, and started again for the next call", async () => {
  const script = `
    setInterval(() => {}, 1000);
    require("node:readline").createInterface(process.stdin).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      const tools = [{ name: "deafen", inputSchema: { type: "object" } }];
      const result = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" }, tools };
      const content = [{ type: "text", text: String(process.pid) }];
      if (method === "tools/call") require("node:fs").closeSync(0);
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: { ...result, content } }));
    });`;
  const { registry } = await mounted({ s: scripted(script) });
  const pid = Number(await registry.execute("mcp__s__deafen", {}));
  expect(await registry.execute("mcp__s__deafen", {})).toContain("the next call starts it again");
  expect(isRunning(pid)).toBe(false);
  expect(Number(await registry.execute("mcp__s__deafen", {}))).toBeGreaterThan(0);
});

test("a server that is gone is named with the reason, and a session that it has lost is opened again", async () => {
  const registryServed = createFixtureRegistry();
  const first = await serveMcp(registryServed, { http: { auth: false } });
  const { registry } = await mounted({ web: { url: String(first.url) } });
  await first.close();
  expect(await registry.execute("mcp__web__echo", { text: "?" })).toMatch(
    /MCP server web could not be reached.*(ECONN|closed)/,
  );
  await served(registryServed, { http: { auth: false, port: Number(new URL(String(first.url)).port) } });
  expect(await registry.execute("mcp__web__echo", { text: "again" })).toBe("again");
});

test("close ends the server's process, and later calls say so", async () => {
  const { mount, registry } = await mounted({ s: odd() });
  const pid = Number(await registry.execute("mcp__s__pid", {}));
  expect(isRunning(pid)).toBe(true);
  await mount.close();
  expect(isRunning(pid)).toBe(false);
  expect(await registry.execute("mcp__s__pid", {})).toMatch(/has been closed/);
});

test("calls that come at once start one process", async () => {
  const store = fileToolStore(await temporaryFile("tools.json"));
  await (await mounted({ s: odd() }, { store })).mount.close();
  const { registry } = await mounted({ s: odd() }, { store });
  const pids = await Promise.all([1, 2, 3].map(() => registry.execute("mcp__s__pid", {})));
  expect(new Set(pids).size).toBe(1);
});

test("a bad server, entry or tool is named and does not affect the others", async () => {
  const { mount, registry } = await mounted({
    gone: scripted("console.error('no such database'); process.exit(1)"),
    missing: { command: "no-such-command-of-toolcrib" },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: filled in by the configuration
    unset: { command: "${NO_SUCH_VARIABLE_OF_TOOLCRIB}" },
    empty: {} as McpServerConfig,
    off: { command: "never", disabled: true },
    odd: odd(),
  });
  const problems = new Map(mount.problems.map((problem) => [problem.server, problem]));
  expect([...problems.keys()].sort()).toEqual(["empty", "gone", "missing", "odd", "unset"]);
  expect(problems.get("gone")?.message).toContain("no such database");
  expect(problems.get("missing")).toMatchObject({ code: "server_failed" });
  expect(problems.get("unset")?.message).toContain("NO_SUCH_VARIABLE_OF_TOOLCRIB is not set");
  expect(problems.get("empty")?.message).toContain("needs a command (and args) or a url");
  expect(problems.get("odd")).toMatchObject({ code: "invalid_tool", details: { tool: "broken" } });
  const names = ["hello", "draft_7_", "draft_2020", "die", "hello__00e7d561", "hello__50403a9e", "pid"];
  expect(registry.getToolNames()).toEqual(names.map((name) => `mcp__odd__${name}`));
  expect(await registry.execute("mcp__odd__hello__50403a9e", {})).toContain('"name":"hello?"');
  // The server's word counts in its own arguments.
  expect(await registry.execute("mcp__odd__draft_2020", { pair: null })).toContain('"pair":null');
  // Each schema is checked by the rules of its draft.
  for (const name of ["mcp__odd__draft_7_", "mcp__odd__draft_2020"]) {
    expect(await registry.execute(name, { pair: ["a", 1] })).toContain('"pair":["a",1]');
    expect(await registry.execute(name, { pair: [{}, 1] })).toContain("Invalid arguments");
    expect(await registry.execute(name, { pair: ["a", 1, 2] })).toContain("Invalid arguments");
  }
});

test("control characters of a server's words reach no message and no description", async () => {
  const tools = [
    { name: "bad\u001b[2J", description: "x", inputSchema: { type: "object", properties: 7 } },
    { name: "good\u202e", description: "One.\u001b[31m\nTwo.\u009b", inputSchema: { type: "object" } },
    { name: "plain\u001b", inputSchema: { type: "object" } },
  ];
  const s = await plain("stdio", { tools });
  const { mount } = await mounted({ s, "b\u001b": scripted("console.error('\u001b[2Jgone'); process.exit(1)") });
  expect(mount.problems).toHaveLength(2);
  const [first, second] = mount.tools.map((tool) => tool.getSchema().function.description);
  expect(first).toBe("One.[31m\nTwo.");
  const words = [...mount.problems.map(({ message }) => message), first, second].join();
  expect(words).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
});
