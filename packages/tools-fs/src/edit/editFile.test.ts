import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { createEditFileTool } from "./editFile.ts";

let base: string;
beforeEach(() => {
  base = temporaryFolder("edit");
});

type Edits = { old_text: string; new_text: string; replace_all?: boolean }[];
const edit = (edits: Edits, options = {}): Promise<string> =>
  createEditFileTool({ cwd: base, ...options })
    .execute({ path: "file", edits })
    .then(String);
const put = (content: string | Buffer): void => writeFileSync(join(base, "file"), content);
const text = (): string => readFileSync(join(base, "file"), "utf8");

test("answers with a unified diff of what changed", async () => {
  put("1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  expect(await edit([{ old_text: "5", new_text: "five" }])).toBe(
    "--- file\n+++ file\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
  );
  expect(text()).toBe("1\n2\n3\n4\nfive\n6\n7\n8\n9\n");
});

test.each([
  ["a b", "a b"],
  ['say "hi"', 'say "hi"'],
  ["é", "é"],
  ["line\nbreak", '"line\\nbreak"'],
])("the diff names %j as every reply prints it: %s", async (name, printed) => {
  writeFileSync(join(base, name), "a\n");
  const output = await createEditFileTool({ cwd: base }).execute({
    path: name,
    edits: [{ old_text: "a", new_text: "b" }],
  });
  expect(String(output)).toBe(`--- ${printed}\n+++ ${printed}\n@@ -1,1 +1,1 @@\n-a\n+b\n`);
});

test("byte order mark, CRLF and a missing last newline stay, and the mode too", async () => {
  put("\ufeffa\r\nb");
  const { mode } = statSync(join(base, "file"));
  await edit([{ old_text: "\ufeffa\n", new_text: "c\n" }]);
  expect(text()).toBe("\ufeffc\r\nb");
  expect(statSync(join(base, "file")).mode).toBe(mode);
});

test("a file that is not valid UTF-8 is refused and stays as it is", async () => {
  const bytes = Buffer.from("caf\xe9 old", "latin1");
  put(bytes);
  await expect(edit([{ old_text: "old", new_text: "new" }])).rejects.toThrow(/file is not valid UTF-8/);
  expect(readFileSync(join(base, "file"))).toEqual(bytes);
});

test("one failing edit leaves the file untouched", async () => {
  put("a b");
  const failing = edit([
    { old_text: "a", new_text: "x" },
    { old_text: "no", new_text: "y" },
  ]);
  await expect(failing).rejects.toThrow(/edits\[1\]\.old_text: was not found \(0 matches\)/);
  expect(text()).toBe("a b");
  expect(readdirSync(base)).toEqual(["file"]);
});

test("concurrent edits of one file are all kept", async () => {
  put(Array.from({ length: 40 }, (_, index) => `<${index}>\n`).join(""));
  await Promise.all(
    Array.from({ length: 40 }, (_, index) => edit([{ old_text: `<${index}>`, new_text: `[${index}]` }])),
  );
  expect(text()).toBe(Array.from({ length: 40 }, (_, index) => `[${index}]\n`).join(""));
});

test("a long diff is cut with a notice", async () => {
  put("a\n".repeat(100));
  const answer = await edit([{ old_text: "a", new_text: "b", replace_all: true }], { maxBytes: 200 });
  expect(answer).toMatch(/\n\n\[truncated: shown \d+ of 20\d lines\]$/);
  expect(text()).toBe("b\n".repeat(100));
});

test("a change too large to diff in time is still made, and the answer says so", async () => {
  const lines = (seed: number): string =>
    Array.from({ length: 60_000 }, (_, index) => `${(index * seed) % 60_013}\n`).join("");
  put(lines(7));
  const answer = await edit([{ old_text: lines(7), new_text: lines(11) }]);
  expect(answer).toBe("Edited file (too many changes to show)");
  expect(text()).toBe(lines(11));
});

test("a missing file and a directory are refused", async () => {
  await expect(edit([{ old_text: "a", new_text: "b" }])).rejects.toThrow(/ENOENT/);
  const tool = createEditFileTool({ cwd: base });
  await expect(tool.execute({ path: ".", edits: [{ old_text: "a", new_text: "b" }] })).rejects.toThrow();
});

test("edits that would make the file larger than the limit are refused, and the file stays", async () => {
  put("a\n");
  const grow = { old_text: "a", new_text: "a".repeat(6000), replace_all: true };
  await expect(edit([grow, grow])).rejects.toThrow(/edits\[1\]\.new_text: makes the text longer than 33554432 bytes/);
  expect(text()).toBe("a\n");
});

test("nothing is written after an abort between two edits", async () => {
  put("a".repeat(400_000));
  const signal = AbortSignal.timeout(1);
  const edits = [..."abababababababababab"].map((old_text) => {
    return { old_text, new_text: old_text === "a" ? "b" : "a", replace_all: true };
  });
  const tool = createEditFileTool({ cwd: base });
  await expect(tool.execute({ path: "file", edits: [...edits, ...edits] }, { signal })).rejects.toThrow();
  expect(text()).toBe("a".repeat(400_000));
});

test("a file with more lines than a diff can hold is edited, and the reply says so", async () => {
  put(`${"a\n".repeat(500_000)}b\n`);
  expect(await edit([{ old_text: "b", new_text: "c" }])).toBe("Edited file (too many lines to show the changes)");
  expect(text()).toBe(`${"a\n".repeat(500_000)}c\n`);
});
