import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { review, toAnnotation } from "./review.ts";

const diff = `--- a/src/price.ts
+++ b/src/price.ts
@@ -1 +1 @@
-export const total = (prices: number[]) => prices.reduce((a, b) => a + b, 0);
+export const total = (prices: number[]) => prices.reduce((a, b) => a + b);
`;
const finding = {
  file: "src/price.ts",
  line: 1,
  severity: "error",
  message: "Throws for an empty list.\nPass 0.",
} as const;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "review-"));
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, "src/price.ts"), "export const total = 1;\n");
  writeFileSync(join(root, ".env"), "TOKEN=secret\n");
});
afterEach(() => rmSync(root, { recursive: true }));

test("the model reads the changed file, and its findings come back", async () => {
  const model = new ScriptedProvider([
    { calls: [{ name: "read_file", args: { path: "src/price.ts" } }] },
    { calls: [{ name: "final_answer", args: { findings: [finding] } }] },
  ]);
  expect(await review(model, root, diff)).toEqual([finding]);
  expect(model.requests[0]?.messages[0]).toMatchObject({ content: [{ text: expect.stringContaining(diff) }] });
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: "tool", output: "export const total = 1;\n" });
});

test("nothing is changed, and no secret is read, whatever the model calls", async () => {
  const model = new ScriptedProvider([
    { calls: [{ name: "write_file", args: { path: "src/price.ts", content: "" } }] },
    { calls: [{ name: "read_file", args: { path: ".env" } }] },
    { calls: [{ name: "read_file", args: { path: "../outside" } }] },
    { calls: [{ name: "final_answer", args: { findings: [] } }] },
  ]);
  expect(await review(model, root, diff)).toEqual([]);
  const results = model.requests[3]?.messages.filter(({ role }) => role === "tool");
  expect(results?.map((result) => "output" in result && result.output.split(":")[0])).toEqual([
    "Tool not found",
    "Error executing read_file",
    "Error executing read_file",
  ]);
});

test("a finding about a file that the diff does not change is left out", async () => {
  const elsewhere = { ...finding, file: "src/other.ts" };
  const model = new ScriptedProvider([{ calls: [{ name: "final_answer", args: { findings: [elsewhere] } }] }]);
  expect(await review(model, root, diff)).toEqual([]);
});

test("an empty diff asks no model, and one that is too long is refused", async () => {
  const model = new ScriptedProvider([]);
  expect(await review(model, root, "\n")).toEqual([]);
  await expect(review(model, root, "x".repeat(200_001))).rejects.toThrow("review it in parts");
  expect(model.requests).toEqual([]);
});

test("a finding is one line, whatever is in it", () => {
  expect(toAnnotation({ ...finding, file: "a,line=9::b.ts" })).toBe(
    "::error file=a%2Cline=9%3A%3Ab.ts,line=1::Throws for an empty list.%0APass 0.",
  );
});
