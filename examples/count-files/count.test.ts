import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { count } from "./count.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "count-files-"));
  for (let n = 1; n <= 50; n += 1) writeFileSync(join(root, `${n}.md`), "a heron\n".repeat(n));
  writeFileSync(join(root, ".env"), "KEY=secret\n");
});
afterEach(() => rmSync(root, { recursive: true }));

const program = (code: string) => ({ calls: [{ id: "p", name: "run_program", args: { code } }] });

async function run(code: string) {
  const model = new ScriptedProvider([program(code), "1275 herons."]);
  const calls: { id: string; within?: string | undefined }[] = [];
  for await (const event of count(model, root, "How many herons are there?"))
    if (event.type === "tool-call") calls.push({ id: event.id, within: event.within });
  const result = model.requests[1]?.messages.find(({ role }) => role === "tool");
  return { model, calls, output: result?.role === "tool" ? result.output : undefined };
}

test("one call of the model reads fifty files, and it reads only the numbers", async () => {
  const { model, calls, output } = await run(`
    const { files: paths } = await tools.search_files({ pattern: "*.md" });
    const files = await Promise.all(paths.map((path) => tools.read_file({ path })));
    const herons = files.map(({ text }) => text.split("heron").length - 1);
    return { files: herons.length, herons: herons.reduce((sum, each) => sum + each, 0) };
  `);
  expect(output).toBe('{"files":50,"herons":1275}');
  expect(calls.map(({ within }) => within)).toEqual([undefined, ...Array.from({ length: 51 }, () => "p")]);
  expect(JSON.stringify(model.requests[1]?.messages)).not.toContain("a heron");
});

test("the model is shown run_program alone, and a program cannot read what is denied", async () => {
  const { model, output } = await run(`return tools.read_file({ path: ".env" }).catch(({ code }) => code)`);
  expect(model.requests[0]?.tools.map((tool) => tool.function.name)).toEqual(["run_program"]);
  expect(output).toBe("permission_denied");
});
