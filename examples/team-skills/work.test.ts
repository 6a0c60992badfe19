import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { work } from "./work.ts";

const template = fileURLToPath(new URL("skills/release-notes/template.md", import.meta.url));

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "skills-"));
  writeFileSync(join(root, "CHANGES.md"), "- Reads WebP.\n");
});
afterEach(() => rmSync(root, { recursive: true }));

test("the model is told of the skill, reads it with its template, and can change neither", async () => {
  const model = new ScriptedProvider([
    { calls: [{ name: "read_skill", args: { name: "release-notes" } }] },
    { calls: [{ name: "read_file", args: { path: template } }] },
    { calls: [{ name: "read_file", args: { path: "CHANGES.md" } }] },
    { calls: [{ name: "write_file", args: { path: template, content: "" } }] },
    "# 2.0\n\n## New\n\n- Reads WebP.",
  ]);
  const results: string[] = [];
  let answer = "";
  for await (const event of work(model, root, "Write the release notes of 2.0.")) {
    if (event.type === "tool-result") results.push(event.output);
    if (event.type === "end") answer = event.text;
  }
  expect(model.requests[0]?.systemPrompt).toContain("- release-notes: Writes release notes");
  expect(results[0]).toContain("Group the others as `template.md` does");
  expect(results[1]).toContain("## What you must change");
  expect(results[2]).toBe("- Reads WebP.\n");
  expect(results[3]).toContain("write_file");
  expect(answer).toContain("Reads WebP");
});
