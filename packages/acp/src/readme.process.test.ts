import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startAcpProgram, temporaryFolder } from "@toolcrib/testing";
import { expect, test } from "vitest";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const sources = new URL("../../mcp/fixtures/sources.mjs", import.meta.url).href;

test("the README's agent runs as it stands, asks before it writes, and ends with its client", async () => {
  const folder = temporaryFolder("readme");
  const [, code = ""] = /```ts title=agent\.ts\n([\s\S]*?)```/.exec(readme) ?? [];
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  writeFileSync(join(folder, "agent.ts"), code);
  const program = startAcpProgram(["--import", sources, "agent.ts"], { cwd: folder }, async () => "once");
  const { agent, child, ended, questions } = program;
  await agent.request("initialize", { protocolVersion: 1 });
  const { sessionId, modes } = await agent.request("session/new", { cwd: folder, mcpServers: [] });
  expect(modes?.currentModeId).toBe("ask");
  const prompt = [{ type: "text" as const, text: 'write "hello" to a.txt' }];
  expect(await agent.request("session/prompt", { sessionId, prompt })).toEqual({ stopReason: "end_turn" });
  expect(questions[0]?.toolCall.content).toMatchObject([{}, { type: "diff", newText: "hello\n" }]);
  expect(readFileSync(join(folder, "a.txt"), "utf8")).toContain("hello");
  child.stdin?.end();
  expect(await ended).toMatchObject({ code: 0, stderr: "" });
});
