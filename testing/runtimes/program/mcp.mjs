// MCP: tools served over standard input and output, and over HTTP, and mounted from there.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { ToolRegistry } from "@toolcrib/core";
import { testTool } from "@toolcrib/core/testing";
import { mountMcp, serveMcp } from "@toolcrib/mcp";
import { dice } from "./dice.mjs";

const words = "deno" in process.versions ? ["run", "--allow-all", "--no-lock"] : [];

export async function mcp({ test, atEnd }) {
  const server = fileURLToPath(new URL("./server.mjs", import.meta.url));
  const serving = await serveMcp(dice(), { http: { auth: false } });
  const places = {
    stdio: { command: process.execPath, args: [...words, server] },
    http: { url: String(serving.url) },
  };
  const mounts = {};
  for (const [name, place] of Object.entries(places)) {
    const mount = await mountMcp({ mcpServers: { dice: place } });
    mounts[name] = mount;
    atEnd(() => mount.close());
    const create = () => mount.tools.find((tool) => tool.name.endsWith("__roll"));
    test(`${name}: the server is mounted`, async () => {
      assert.deepEqual(
        mount.problems.map(({ message }) => message),
        [],
      );
      assert.deepEqual(mount.tools.map((tool) => tool.name).sort(), [
        "mcp__dice__fail",
        "mcp__dice__roll",
        "mcp__dice__wait",
      ]);
    });
    if (create()) testTool((each, run) => test(`${name}: ${each}`, run), { create, validArgs: () => ({ count: 2 }) });

    test(`${name}: a call answers, fails in words, and is cancelled`, async () => {
      const tools = new ToolRegistry(mount.tools);
      assert.equal(await tools.execute("mcp__dice__roll", { count: 3 }), "444");
      assert.match(await tools.execute("mcp__dice__fail", {}), /^Error executing mcp__dice__fail: .*it broke/);
      const outcome = await tools.invoke("mcp__dice__wait", {}, { signal: AbortSignal.timeout(300) });
      assert.equal(outcome.error.code, "aborted");
    });
  }
  atEnd(() => serving.close());
}
