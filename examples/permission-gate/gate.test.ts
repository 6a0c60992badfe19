import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "@toolcrib/agent";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import type { ToolRegistry } from "@toolcrib/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createGuardedTools } from "./gate.ts";

let root: string;
let tools: ToolRegistry;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "gate-"));
  writeFileSync(join(root, ".env"), "TOKEN=secret\n");
  tools = createGuardedTools(root);
});
afterEach(() => rmSync(root, { recursive: true }));

test("what a rule allows runs, the rest is asked about, and a no with a reason reaches the model", async () => {
  const model = new ScriptedProvider([
    { calls: [{ name: "write_file", args: { path: "docs/a.md", content: "a" } }] },
    { calls: [{ name: "write_file", args: { path: "index.js", content: "b" } }] },
    { calls: [{ name: "run_bash", args: { command: "touch c.txt" } }] },
    { calls: [{ name: "read_file", args: { path: ".env" } }] },
    { calls: [{ name: "run_bash", args: { command: "cat .env" } }] },
    "Done.",
  ]);
  const questions: string[] = [];
  const agent = new Agent(model, { tools });
  await agent.chat("Do it", {
    approve: ({ name }, { text }) => {
      questions.push(text);
      return name === "write_file" || "no new files";
    },
  });
  expect(questions).toEqual([
    expect.stringContaining("write_file would write index.js"),
    expect.stringContaining("run_bash would run: touch c.txt"),
  ]);
  expect(readFileSync(join(root, "index.js"), "utf8")).toBe("b");
  expect(existsSync(join(root, "c.txt"))).toBe(false);
  const outputs = agent.sessionContext.flatMap((message) => (message.role === "tool" ? [message.output] : []));
  expect(outputs).toEqual([
    "Created docs/a.md (1 bytes)",
    "Created index.js (1 bytes)",
    "Error executing run_bash: Permission denied: no new files",
    expect.stringContaining("Permission denied: .env is on the list of denied paths"),
    expect.stringContaining("the rule effect:read(.env) denies it"),
  ]);
});

test("while the project is frozen nothing changes it, not even with a yes; reading goes on", async () => {
  const run = (name: string, args: object): Promise<string> => tools.execute(name, args, { approve: () => true });
  writeFileSync(join(root, "FREEZE"), "");
  const frozen = /Permission denied: the project is frozen for a release; remove the file FREEZE first$/;
  expect(await run("write_file", { path: "docs/a.md", content: "a" })).toMatch(frozen);
  expect(await run("run_bash", { command: "echo a > docs.txt" })).toMatch(frozen);
  expect(await run("list_dir", { path: "." })).toBe("FREEZE\n\n[left out: 1 denied name]");
  rmSync(join(root, "FREEZE"));
  expect(await run("write_file", { path: "docs/a.md", content: "a" })).toBe("Created docs/a.md (1 bytes)");
});
