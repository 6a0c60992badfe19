import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { ToolRegistry } from "@toolcrib/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createCountLinesTool } from "./countLines.ts";
import { investigate } from "./investigate.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "logs-"));
  const lines = [
    "2026-11-22T01:58:00Z INFO deploy 81 done",
    "2026-11-22T02:01:10Z ERROR pool exhausted",
    "2026-11-22T02:01:40Z ERROR pool exhausted",
    "2026-11-22T02:02:05Z ERROR pool exhausted",
    "    at Pool.take",
  ];
  writeFileSync(join(root, "app.log"), `${lines.join("\n")}\n`);
});
afterEach(() => rmSync(root, { recursive: true }));

test("the model searches and counts in the real logs, and its answer comes last", async () => {
  const model = new ScriptedProvider([
    { calls: [{ name: "search_text", args: { query: "ERROR", paths: ["."] } }] },
    { calls: [{ name: "count_lines", args: { path: "app.log", text: "pool" } }] },
    "The pool ran out from 02:01 on, after deploy 81 (app.log:2).",
  ]);
  const results: string[] = [];
  let answer = "";
  for await (const event of investigate(model, root, "Why did checkout fail?")) {
    if (event.type === "tool-result") results.push(event.output);
    if (event.type === "end") answer = event.text;
  }
  expect(results[0]).toContain("app.log:2:2026-11-22T02:01:10Z ERROR pool exhausted");
  expect(results[1]).toBe("2026-11-22 02:01 2\n2026-11-22 02:02 1");
  expect(answer).toContain("app.log:2");
});

test("count_lines counts by the hour, says when nothing matches, and stays inside the folder", async () => {
  const registry = new ToolRegistry([createCountLinesTool(root)]);
  const count = (args: object) => registry.execute("count_lines", args);
  expect(await count({ path: "app.log", text: "pool", per: "hour" })).toBe("2026-11-22 02:00 3");
  expect(await count({ path: "app.log", text: "Pool.take" })).toBe("(no time) 1");
  expect(await count({ path: "app.log", text: "absent" })).toBe("No line contains the text.");
  expect(await count({ path: "/etc/passwd", text: "root" })).toContain("Permission denied: /etc/passwd is outside");
});
