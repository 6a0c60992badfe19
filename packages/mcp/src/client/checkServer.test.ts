import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { servedEntry } from "../../fixtures/serving.ts";
import { checkServer } from "./checkServer.ts";
import { mountMcp } from "./mountMcp.ts";
import { fileToolStore } from "./toolStore.ts";

test("a server that answers is described by its tools", async () => {
  const check = await checkServer("fix", await servedEntry());
  expect(check).toMatchObject({ server: "fix", isOk: true, problems: [], advice: undefined });
  expect(check.tools.map(({ name }) => name)).toContain("mcp__fix__echo");
  expect(check.text).toBe(`fix: ${check.tools.length} tools`);
});

test.each([
  [{ command: "no-such-program-anywhere" }, "server_failed", /is not on PATH/],
  [{ command: process.execPath, args: ["-e", "process.exit(1)"] }, "server_failed", /did not start/],
  [{ url: "http://127.0.0.1:9/mcp" }, "server_failed", /did not start/],
  [{ command: "" }, "invalid_config", /command must be a non-empty string/],
])("a server that is %j is reported with what to do", async (entry, code, says) => {
  const check = await checkServer("bad", entry);
  expect(check).toMatchObject({ isOk: false, tools: [], problems: [{ code }] });
  expect(check.text).toMatch(says);
  expect(check.advice).toMatch(/^check its entry/);
});

test("with a store the tools are asked for again, and compared with those that were accepted", async () => {
  const fix = await servedEntry();
  const path = join(temporaryFolder("check"), "tools.json");
  const store = fileToolStore(path);
  await (await mountMcp({ mcpServers: { fix } }, { store })).close();
  const known = await store.load("fix");
  const tools = (known?.tools ?? []).map((tool) => (tool.name === "echo" ? { ...tool, description: "other" } : tool));
  await store.save("fix", { config: known?.config ?? "", tools });
  const check = await checkServer("fix", fix, { store });
  expect(check.problems).toMatchObject([{ code: "tool_changed" }]);
  expect(check.advice).toMatch(/mcp test --accept/);
  expect((await checkServer("fix", fix, { store, accept: () => true })).isOk).toBe(true);
});
